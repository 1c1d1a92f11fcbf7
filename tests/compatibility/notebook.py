"""Notebook 7 in Chromium: a turn with its panel, Stop, and what stays of both in the file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from hermes_kernel.testing import Server, call, late, say
from tests.browser.lab import SHOTS
from tests.ports import own_port

HERE = Path(__file__).parent
BROWSER = HERE.parent / "browser"
LAUNCH = {"hermes": ["-m", "hermes_kernel.kernel"], "python3": ["-m", "ipykernel_launcher"]}
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("node")), reason="needs chromium and node"),
]


@pytest.fixture
def port() -> Iterator[int]:
    with own_port() as port:
        yield port


@pytest.fixture(params=LAUNCH)
def started(request, tmp_path: Path, port: int) -> Iterator[tuple[str, str, Path]]:
    """Notebook 7 on loopback with a kernel of this kind: its address, the kernel's name, the folder of notebooks."""
    spec, book = tmp_path / "data" / "kernels" / "tried", tmp_path / "book"
    for folder in (spec, book):
        folder.mkdir(parents=True)
    ours = {"HERMES_HOME": str(tmp_path / "home"), "HERMES_API_KEY": "none", "HERMES_LEARNING": "off"}
    known = {
        "argv": [sys.executable, *LAUNCH[request.param], "-f", "{connection_file}"], "display_name": "tried",
        "language": "python", "interrupt_mode": "message" if request.param == "hermes" else "signal", "env": ours,
    }  # fmt: skip
    (spec / "kernel.json").write_text(json.dumps(known))
    asked = [sys.executable, "-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    asked += ["--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={book}"]
    environ = os.environ | {
        f"JUPYTER_{name.upper()}_DIR": str(tmp_path / name) for name in ("config", "runtime", "data")
    }
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(asked, env=environ, stdout=log, stderr=log)
        try:
            await_answer(f"http://127.0.0.1:{port}/api")
            yield f"http://127.0.0.1:{port}", request.param, book
        finally:
            server.terminate()
            server.wait(60)


def await_answer(url: str) -> None:
    end = time.monotonic() + 180
    while True:
        try:
            urllib.request.urlopen(url, timeout=10).close()
        except OSError:
            assert time.monotonic() < end, f"{url} does not answer"
            time.sleep(0.5)
        else:
            return


def test_a_turn_has_its_panel_its_answer_and_its_stop(started):
    address, kind, folder = started
    magic = "" if kind == "hermes" else "%%hermes\n"
    steps = [late(call("python", {"code": "6 * 7"}), 2), late(say("It is **42**."), 2), late(say("Never."), 300)]
    if not all((BROWSER / "node_modules" / each).exists() for each in ("playwright-core", "axe-core")):
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=BROWSER, check=True)
    with Server(steps) as server:
        first = f"%config HermesMagics.base_url = {server.url!r}\n%config HermesMagics.model = 'scripted'"
        first = first if kind == "hermes" else f"%load_ext magics\n{first}"
        made = new_notebook(
            cells=[new_code_cell(each) for each in (first, f"{magic}How much?", f"{magic}Go on.")],
            metadata={"kernelspec": {"name": "tried", "display_name": "tried", "language": "python"}},
        )
        nbformat.write(made, folder / "told.ipynb")
        shots = SHOTS / f"notebook-{kind}"
        shots.mkdir(parents=True, exist_ok=True)
        asked = ["node", str(HERE / "notebook.mjs"), address, "told.ipynb", str(shots)]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "error" not in seen, seen
    assert "It is 42." in seen["answer"]
    assert "It is 42." in seen["reloaded"]
    assert "interrupted" in seen["stopped"]
    assert seen["left"] == 0
