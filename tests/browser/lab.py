"""JupyterLab on loopback with kernels of every kind, a browser that is shared, and notebooks that are driven in it.

A look at something of one's own, without a test::

    with running_lab(Path("/tmp/looked")) as lab, Server([forever(say("Hello."))]) as server:
        kernel = KERNELS[0]
        book = lab.notebook("mine", kernel, server.url, [kernel.ask("Say hello."), "%hermes skills"])
        print(lab.drive("/tmp/mine.mjs", book))  # which imports page.mjs from here
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.ports import own_port

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
PYTHONS = (sys.executable, *(each for each in os.environ.get("HERMES_TEST_PYTHONS", "").split(",") if each))
LAUNCH = {"hermes": ("hermes_kernel.kernel", "message"), "python3": ("ipykernel_launcher", "signal")}
SHOTS = Path(os.environ.get("HERMES_SHOTS") or ROOT / "build" / "shots")
MARKS = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("node")), reason="needs chromium and node"),
]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip


class Kernel(NamedTuple):
    """A kernelspec of the Lab. ``python`` counts `PYTHONS`."""

    name: str
    python: int

    def __str__(self) -> str:
        return f"{self.name}-{self.python}"

    def ask(self, prompt: str) -> str:
        """A cell that is a prompt."""
        return prompt if self.name == "hermes" else f"%%hermes\n{prompt}"

    def py(self, code: str) -> str:
        """A cell of Python."""
        return f"%%py\n{code}" if self.name == "hermes" else code

    def first(self, settings: dict[str, Any]) -> str:
        """The cell that says which model and how."""
        lines = [f"%config HermesMagics.{key} = {value!r}" for key, value in settings.items()]
        return "\n".join([*(["%load_ext magics"] if self.name != "hermes" else []), *lines])


KERNELS = [Kernel(name, python) for python in range(len(PYTHONS)) for name in LAUNCH]
NEWEST, OLDEST = KERNELS[:2], KERNELS[-2:]
"""Our kernel and the stock one, on the newest ipykernel there is and on the oldest."""
APART = [*NEWEST, *OLDEST[1:]] if len(PYTHONS) > 1 else NEWEST
"""Kinds in which a page finds something else: ours hears what stock ones are taught, on either ipykernel."""


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that answers at ``address``, its folders in ``place``, and the address of a ``browser``."""

    address: str
    place: Path
    browser: str

    def notebook(
        self, name: str, kernel: Kernel, url: str, cells: Sequence[str], *, home: Path | None = None, **settings: Any
    ) -> Path:
        """A notebook of these cells below one that points the agent at the scripted server. ``home``: one of its own."""
        first = kernel.first({"base_url": url, "model": "scripted"} | settings)
        path = self.place / "notebooks" / f"{name}-{kernel}.ipynb"
        spec = str(kernel)
        if home is not None:
            spec = path.stem
            _kernelspec(self.place / "data", spec, kernel, home)
        known = {"name": spec, "display_name": spec, "language": "python"}
        made = new_notebook(cells=[new_code_cell(each) for each in (first, *cells)], metadata={"kernelspec": known})
        nbformat.write(made, path)
        return path

    def drive(self, script: str, notebook: Path, *, timeout: float = 600, **given: Any) -> dict[str, Any]:
        """What a person saw whom `script` led through the notebook. Screenshots are in a folder of the notebook's name."""
        shots = SHOTS / notebook.stem
        shots.mkdir(parents=True, exist_ok=True)
        command = ["node", str(HERE / script), self.address, notebook.name, str(shots), json.dumps(given)]
        ours = os.environ | {"HERMES_BROWSER": self.browser}
        log = self.place / "lab.log"
        before = log.stat().st_size
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=ours)
        assert done.returncode == 0, done.stderr
        seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        if "error" in seen:
            said = log.read_bytes()[before:][-8_000:].decode(errors="replace")
            pytest.fail(
                f"{seen['error']}\nkernel {seen['kernel']}, {seen['cells']}\n{seen['outputs']}\nsee {shots}/failed.png\n{log} says meanwhile:\n{said}"
            )
        return seen


@contextlib.contextmanager
def running_lab(place: Path) -> Iterator[Lab]:
    """JupyterLab on a free port, with folders of its own in `place`, and a browser."""
    _bring_driver()
    place.mkdir(parents=True, exist_ok=True)
    names = ("config", "runtime", "data", "settings", "workspaces", "notebooks", "home", "profile")
    folders = {name: place / name for name in names}
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
    for kernel in KERNELS:
        _kernelspec(folders["data"], str(kernel), kernel, folders["home"])
    quiet = folders["settings"] / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True, exist_ok=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    with own_port() as port, _jupyterlab(place, folders, port) as address, _chromium(folders["profile"]) as browser:
        yield Lab(address, place, browser)


def _bring_driver() -> None:
    """The browser's driver and axe-core, installed beside this file from their lock."""
    if not all((HERE / "node_modules" / name).exists() for name in ("playwright-core", "axe-core")):
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=HERE, check=True)


@contextlib.contextmanager
def _jupyterlab(place: Path, folders: dict[str, Path], port: int) -> Iterator[str]:
    options = {
        "ServerApp.root_dir": folders["notebooks"], "ServerApp.password": "", "ServerApp.disable_check_xsrf": True,
        "ServerApp.port_retries": 0, "IdentityProvider.token": "", "LabApp.news_url": None, "LabApp.expose_app_in_browser": True,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate", "LabApp.extension_manager": "readonly",
    }  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--{name}={value}" for name, value in options.items()]
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_", "JUPYTER"))}
    ours |= {f"JUPYTER_{name.upper()}_DIR": str(folders[name]) for name in ("config", "runtime", "data")}
    ours |= {f"JUPYTERLAB_{name.upper()}_DIR": str(folders[name]) for name in ("settings", "workspaces")}
    with (place / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, env=ours, stdout=log, stderr=log, cwd=folders["notebooks"])
        try:
            _await(f"http://127.0.0.1:{port}/api")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


@contextlib.contextmanager
def _chromium(profile: Path) -> Iterator[str]:
    """A browser that stays for all that is driven in it: pages open faster in one that has seen JupyterLab before."""
    command = [
        os.environ.get("CHROMIUM") or "chromium",
        *FLAGS,
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
    ]
    quiet = subprocess.DEVNULL
    browser = subprocess.Popen([*command, "about:blank"], stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        told = profile / "DevToolsActivePort"
        end = time.monotonic() + 60
        while not (told.exists() and told.read_text().strip()):
            assert time.monotonic() < end, "chromium does not start"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{told.read_text().split()[0]}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(browser.pid, signal.SIGTERM)
        browser.wait(20)


def _kernelspec(data: Path, name: str, kernel: Kernel, home: Path) -> None:
    module, interrupt = LAUNCH[kernel.name]
    folder = data / "kernels" / name
    folder.mkdir(parents=True, exist_ok=True)
    spec = {
        "argv": [PYTHONS[kernel.python], "-Xfrozen_modules=off", "-m", module, "-f", "{connection_file}"],
        "display_name": name,
        "language": "python",
        "interrupt_mode": interrupt,
        "env": {"PYTHONPATH": str(ROOT), "HERMES_HOME": str(home), "HERMES_API_KEY": "none",
                "HERMES_LEARNING": "off", "HERMES_SCHEDULE_WATCH": "off"},
    }  # fmt: skip
    (folder / "kernel.json").write_text(json.dumps(spec))


def _await(url: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            assert time.monotonic() < end, f"{url} does not answer"
            time.sleep(0.2)
        else:
            return
