"""JupyterLab in a real browser: a person sees the answer grow, presses Stop, asks again, and answers a question.

Needs node and Chromium (``apt-get install chromium``). Screenshots go to ``HERMES_SHOTS`` or a folder of pytest's.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from hermes_kernel.testing import Server, call, say

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
PYTHONS = (sys.executable, *(each for each in os.environ.get("HERMES_TEST_PYTHONS", "").split(",") if each))
LAUNCH = {"hermes": "hermes_kernel.kernel", "python3": "ipykernel_launcher"}
KINDS = [(name, python) for python in PYTHONS for name in LAUNCH]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("node")), reason="needs chromium and node"),
]

SLOW = [f"Paragraph {n} about **ducks**, `ponds` and bread.\n\n" for n in range(1, 200)]
TABLE = (
    "Ducks sold best in **March**:\n\n| month | ducks |\n|---|---|\n| February | 12 |\n| March | 31 |\n\n"
    "```python\ndf.groupby('month').ducks.sum()\n```\n\n1. Buy bread.\n2. Find a pond.\n\n"
    '<img src=x onerror="window.hacked=true"><script>window.hacked=true</script>\n'
)


@pytest.fixture(scope="session")
def playwright() -> None:
    """The browser's driver, installed beside this file from its lock."""
    if not (HERE / "node_modules" / "playwright-core").exists():
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=HERE, check=True)


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[tuple[str, Path]]:
    """JupyterLab on a free port with folders of its own; its address and its folder."""
    place = tmp_path_factory.mktemp("lab")
    folders = {
        name: place / name for name in ("config", "runtime", "data", "settings", "workspaces", "notebooks", "home")
    }
    for folder in folders.values():
        folder.mkdir()
    for python in PYTHONS:
        for name, module in LAUNCH.items():
            _kernelspec(folders, name, python, module)
    quiet = folders["settings"] / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
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
            yield f"http://127.0.0.1:{port}", place
        finally:
            server.terminate()
            server.wait(20)


@pytest.mark.parametrize(("name", "python"), KINDS)
def test_a_person_sees_the_answer_grow_and_stops_it_and_asks_again(playwright, lab, name, python):
    address, place = lab
    kernel = f"{name}-{PYTHONS.index(python)}"
    shots = Path(os.environ.get("HERMES_SHOTS") or place / "shots") / kernel
    shots.mkdir(parents=True, exist_ok=True)
    steps = [
        say(SLOW, gap=0.15),
        call("python", {"code": "6 * 7"}),
        say([TABLE[n : n + 12] for n in range(0, len(TABLE), 12)], gap=0.03),
        call("clarify", {"question": "Red or <b>blue</b>?", "choices": ["red", "blue"]}),
        say("You chose blue."),
        call("clarify", {"question": "What shall stand above it? " + "Some like it long. " * 12}),
        say("It is framed."),
    ]
    with Server(steps) as server:
        path = place / "notebooks" / f"{kernel}.ipynb"
        nbformat.write(_notebook(kernel, server.url), path)
        command = ["node", str(HERE / "drive.mjs"), address, path.name, str(shots)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout.splitlines()[-1])
        assert "error" not in seen, seen
        tool_results = [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"]
    assert "Stop" in seen["streaming"]
    assert "writing" in seen["streaming"]
    assert "interrupted" in seen["stopped"]
    assert "Interrupted. The conversation is kept" in seen["stopped"]
    assert seen["stopped_ms"] < 2000
    assert seen["buttons_left"] == 0
    assert "March" in seen["answer"]
    assert "completed · 2 of 90 calls" in seen["answer"]
    assert "<script>window.hacked=true</script>" in seen["answer"]
    assert seen["hacked"] is False
    assert "You chose blue." in seen["clarified"]
    assert "blue" in tool_results[-2]
    assert seen["room_right_of_stop"] >= 0
    assert "It is framed." in seen["entered"]
    assert "Ponds" in tool_results[-1]
    assert seen["remote"] == []
    _saved_is_small_and_plain(path)


def _saved_is_small_and_plain(path: Path) -> None:
    saved = nbformat.read(path, as_version=4)
    answer = saved.cells[2].outputs
    assert all("application/vnd.jupyter.widget-view+json" not in each.get("data", {}) for each in answer)
    text = "\n\n".join(each["data"]["text/markdown"] for each in answer if "text/markdown" in each.get("data", {}))
    assert text.startswith("Ducks sold best in **March**:")
    assert len(json.dumps(answer)) < 6000


def _notebook(kernel: str, url: str):
    """A first cell that points the agent at the scripted server, and four prompts."""
    load, ask = ("", "") if kernel.startswith("hermes") else ("%load_ext magics\n", "%%hermes\n")
    first = f"{load}%config HermesMagics.base_url = {url!r}\n%config HermesMagics.model = 'scripted'"
    prompts = ["Tell me all about ducks.", "Which month sold best? Use python.", "Paint the pond.", "Frame it."]
    cells = [new_code_cell(first), *(new_code_cell(ask + prompt) for prompt in prompts)]
    return new_notebook(
        cells=cells, metadata={"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    )


def _kernelspec(folders: dict[str, Path], name: str, python: str, module: str) -> None:
    kernel = f"{name}-{PYTHONS.index(python)}"
    folder = folders["data"] / "kernels" / kernel
    folder.mkdir(parents=True)
    spec = {
        "argv": [python, "-Xfrozen_modules=off", "-m", module, "-f", "{connection_file}"],
        "display_name": kernel,
        "language": "python",
        "interrupt_mode": "message" if name == "hermes" else "signal",
        "env": {"PYTHONPATH": str(ROOT), "HERMES_HOME": str(folders["home"]), "HERMES_API_KEY": "none",
                "HERMES_LEARNING": "off"},
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
