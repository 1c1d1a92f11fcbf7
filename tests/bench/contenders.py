"""Who is measured, each in an environment of its own: what one of them needs is not in the way of the others.

Ours, the bare loop and the floor run in this Python. A peer has a virtual environment with nothing in it but what
`peers/NAME.txt` asks for, made when it is first measured and kept in a folder for caches. One environment for all of
them there is not: each would get the versions that the others bear, and import what the others brought.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.rows import BARE, FLOOR, OURS

HERE = Path(__file__).parent / "peers"


class Contender(NamedTuple):
    """One of those that are measured."""

    file: str
    """In `peers/`; with a text of its name, if it is not run in this Python."""
    chunks: int = 20_000
    """How many it is given, where one cannot wait for the end of more."""


CONTENDERS = {
    OURS: Contender("ours"),
    BARE: Contender("bare"),
    FLOOR: Contender("floor"),
    "hermes-agent": Contender("hermes_agent"),
    "pydantic-ai": Contender("pydantic_ai"),
    "openai-agents": Contender("openai_agents"),
    "smolagents": Contender("smolagents", chunks=500),
    "langgraph": Contender("langgraph"),
}
PEERS = tuple(name for name, contender in CONTENDERS.items() if (HERE / f"{contender.file}.txt").exists())


def worked(name: str, job: str, url: str, number: int, limits: tuple[float, float] = (60.0, 600.0)) -> dict[str, Any]:
    """What a fresh process measures of one contender in a job; `cannot` says why it did not.

    Args:
        name: In `CONTENDERS`.
        job: A job of `peers/playing.py`.
        url: A server's.
        number: Iterations, chunks or calls.
        limits: Seconds that the job itself heeds, and those after which the process is ended.
    """
    heeded, ended = limits
    file = HERE / f"{CONTENDERS[name].file}.py"
    command = [str(python(name)), "-P", str(HERE / "playing.py"), str(file), job, url, str(number), str(heeded)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=ended, env=_clean(home), cwd=home
            )
        except subprocess.TimeoutExpired:
            return {"cannot": f"it took more than {ended:.0f} s"}
    if done.returncode or not done.stdout.strip():
        print(f"{name}, {job}: {done.stderr[-2000:]}", file=sys.stderr, flush=True)
        return {"cannot": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it said nothing"}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def python(name: str) -> Path:
    """The interpreter of a contender, made on the way if it is not there."""
    wanted = HERE / f"{CONTENDERS[name].file}.txt"
    if not wanted.exists():
        return Path(sys.executable)
    mark = hashlib.sha256(f"{wanted.read_text()}{sys.version}".encode()).hexdigest()[:12]
    place = _cache() / f"{wanted.stem}-{mark}"
    made = place / "bin" / "python"
    if not (place / "complete").exists():
        print(f"an environment for {name}: {place}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        subprocess.run([made, "-m", "pip", "install", "--quiet", "-r", str(wanted)], check=True)
        (place / "complete").touch()
    return made


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hermes-kernel-bench"


def _clean(home: str) -> dict[str, str]:
    """An environment without the person's own settings and keys."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "TZ", "TMPDIR"}}
    return kept | {"HOME": home, "HERMES_HOME": home, "HERMES_PLAIN": "on", "PYTHONWARNINGS": "ignore"}
