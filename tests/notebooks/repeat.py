"""All notebooks again and again, strictly: ``python -m tests.notebooks.repeat 20`` (``-n 2``: two files at a time).

Each round has the files in another order, on a machine that two other processes keep busy, with no network but
loopback, and takes its turn among the kernels: this interpreter's, and those of ``HERMES_TEST_PYTHONS`` (with commas
between), such as one with an older ipykernel. A line a round; the first red one ends it, and its output is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
SANITIZE = ROOT / "tests" / "notebooks" / "sanitize.cfg"
OURS = ("HERMES_", "OPENAI_", "JUPYTER_")
BUSY = "import os\nmine = os.getppid()\nwhile os.getppid() == mine: sum(range(100_000))"  # until we are gone
# In a network of its own nothing answers, not even loopback, until it is up (SIOCSIFFLAGS; IFF_UP | IFF_RUNNING).
ALONE = """
import fcntl, os, socket, struct, sys
with socket.socket() as any:
    fcntl.ioctl(any, 0x8914, struct.pack("16sh", b"lo", 0x41))
os.execvp(sys.argv[1], sys.argv[1:])
"""
UNREACHABLE = """
import socket
try:
    socket.create_connection(("192.0.2.1", 9), 2)
except OSError as error:
    raise SystemExit(0 if error.errno == 101 else str(error))  # ENETUNREACH
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the rounds that are asked for; 1 at the first that is red."""
    options = _parser().parse_args(arguments)
    alone, told = _network()
    print(f"seed {options.seed} · {told} · {options.load} busy processes", flush=True)
    paths = options.notebooks or _recorded(sorted(FOLDER.glob("*.ipynb")))
    draw, pythons = random.Random(options.seed), cycle(_pythons())
    for number in range(1, options.rounds + 1):
        order = draw.sample(paths, len(paths))
        if not _round(f"round {number} of {options.rounds}", order, next(pythons), alone, options):
            return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.notebooks.repeat", description=__doc__)
    parser.add_argument("rounds", type=int, nargs="?", default=20)
    parser.add_argument("notebooks", type=Path, nargs="*", help="only these")
    parser.add_argument("-n", type=int, default=0, metavar="N", help="files at a time")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000), help="of the orders")
    parser.add_argument("--load", type=int, default=2, metavar="N", help="busy processes beside")
    return parser


def _recorded(paths: list[Path]) -> list[Path]:
    """Those that need no model of flesh: the quickstart asks one, unless what it said is on record beside it."""
    live = [path for path in paths if path.name.startswith("00_") and not path.with_suffix(".cassette.jsonl").exists()]
    for path in live:
        print(f"left out, for it asks a real model and has no cassette beside it: {path.name}")
    return [path for path in paths if path not in live]


def _network() -> tuple[list[str], str]:
    """What stands before a command so that it has loopback and nothing else, and a line that says whether it has."""
    alone = ["unshare", "-n", sys.executable, "-c", ALONE]
    try:
        done = subprocess.run([*alone, sys.executable, "-c", UNREACHABLE], capture_output=True, text=True, check=False)
    except OSError as error:
        return [], f"NOT blocked from the network: {error}"
    if done.returncode:
        return [], f"NOT blocked from the network: {(done.stderr or 'no namespace').strip().splitlines()[-1]}"
    return alone, "loopback only"


def _pythons() -> list[str]:
    return [sys.executable, *(each for each in os.environ.get("HERMES_TEST_PYTHONS", "").split(",") if each)]


def _round(name: str, order: Sequence[Path], python: str, alone: list[str], options: argparse.Namespace) -> bool:
    """One pass over the notebooks, whether it was green."""
    kernel = _output([python, "-c", "import ipykernel; print(ipykernel.__version__)"])
    log, began = Path(tempfile.mkdtemp(prefix="notebooks")) / "output.txt", time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, _busy(options.load), log.open("w") as output:
        command = [*alone, sys.executable, "-m", "pytest", *_pytest(options.n), *map(str, order)]
        environment = _environment(Path(scratch), python)
        done = subprocess.run(command, stdout=output, stderr=output, env=environment, cwd=ROOT, check=False)
    said = log.read_text(encoding="utf-8").strip().splitlines()
    numbers = " ".join(path.name[:2] for path in order)
    print(
        f"{name} · ipykernel {kernel} · {numbers} · {time.monotonic() - began:.0f} s · {''.join(said[-1:])}", flush=True
    )
    if done.returncode:
        print(*said[-60:], f"all of it: {log}", sep="\n", flush=True)
    else:
        log.unlink()
        log.parent.rmdir()
    return done.returncode == 0


def _pytest(many: int) -> list[str]:
    """Strictly, in the order of the files as they are named."""
    beside = ["-n", str(many), "--dist", "loadfile", "--no-loadscope-reorder"] if many else ["-n", "0"]
    return ["-q", *beside, "-p", "no:cacheprovider", "--nbval", "--nbval-sanitize-with", str(SANITIZE)]


def _environment(scratch: Path, python: str) -> Mapping[str, str]:
    """Nothing of the person's: a home of its own, and the kernel ``python3`` is that of `python`."""
    spec = scratch / "jupyter" / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, "HOME": str(scratch), "JUPYTER_PATH": str(spec.parents[2])}


@contextlib.contextmanager
def _busy(many: int) -> Iterator[None]:
    """As many processes that do nothing but work."""
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(many)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    raise SystemExit(main())
