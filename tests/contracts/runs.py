"""What the tests of runs share: a job, its work, and a runner that plays a script, which keeps what the real one does."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from hermes_kernel.core.schedule.job import Job, Parameter
from hermes_kernel.scheduling.ports import Ran, Work
from hermes_kernel.scheduling.running import NotebookRunner, notebook_path
from hermes_kernel.testing import Server
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import PATIENCE_SECONDS, Stop
from hermes_kernel.world.store import Store

ROOT = Path(__file__).parents[2]
DUE = 1_796_630_400.0  # 7 December 2026 08:00 UTC
ID = "abcdef0123456789"


def job(prompt: str = "", **changes) -> Job:
    return Job(
        ID,
        **{"name": "brief", "schedule": "0 9 * * 1", "zone": "Europe/Zurich", "since": 0.0, "prompt": prompt} | changes,
    )


def parameters(**values) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, json.dumps(value)) for name, value in values.items())


def work(home: Path, job: Job, run: str = "abcdef01-20261207T080000Z", due: float = DUE) -> Work:
    return Work(job, run, due, notebook_path(home, job, due))


def template(path: Path, *cells: str, kernel: str = "python3", tags: Mapping[int, str] | None = None) -> Path:
    """A notebook with these code cells; ``tags`` of some of them by their place."""
    made = new_notebook(cells=[new_markdown_cell("# A report"), *map(new_code_cell, cells)])
    for n, tag in (tags or {}).items():
        made.cells[n + 1].metadata["tags"] = [tag]
    made.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
    nbformat.write(made, path)
    return path


def environ(server: Server | None = None, **more: str) -> dict[str, str]:
    """That of a kernel which asks `server`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "OPENAI_"))}
    url = server.url if server else "http://127.0.0.1:9/v1"
    ours = {"HERMES_BASE_URL": url, "HERMES_MODEL": "scripted", "HERMES_API_KEY": "none", "HERMES_LEARNING": "off"}
    return kept | ours | {"PYTHONPATH": str(ROOT), "HERMES_MAX_RETRIES": "1"} | more


def real(
    home: Path,
    server: Server | None = None,
    clock: Clock | None = None,
    patience: float = PATIENCE_SECONDS,
    **more: str,
) -> NotebookRunner:
    """The runner, and kernels that ask `server`."""
    return NotebookRunner(home, Store(home), clock or SystemClock(), environ=environ(server, **more), patience=patience)


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook, which is a sound one."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def shown(path: Path) -> str:
    """All that its cells show, as text."""
    return json.dumps([cell.get("outputs", []) for cell in read(path).cells], ensure_ascii=False)


class ScriptedRunner:
    """`ports.Runner` that knows by a job's prompt what comes of it; what it does not know goes on until it is stopped."""

    def __init__(self, script: Mapping[str, Ran]) -> None:
        self.script = script
        self.ran: list[Work] = []

    async def run(self, work: Work, stop: Stop) -> Ran:
        self.ran.append(work)
        work.notebook.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=[new_code_cell(work.job.prompt)]), work.notebook)
        if stop.by or work.job.prompt not in self.script:
            await stop.wait()
            return Ran("stopped", f"stopped by {stop.by}")
        return self.script[work.job.prompt]
