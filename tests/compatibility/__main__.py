"""``python -m tests.compatibility [NAME …]``: each combination installed from the index and tested; a Markdown table.

    python -m tests.compatibility --list
    python -m tests.compatibility python-3.13 lowest
    python -m tests.compatibility --python ~/pythons/3.14/bin/python python-3.14

Without names: all of them, which takes an hour. A Python that is neither given nor on the path is left out, and said so. Exit
code 1 when something failed, or when what was named could not be tried. Environments stay in ``--cache``; what failed is there
in a file of the combination's name.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.compatibility.combinations import COMBINATIONS, Combination
from tests.compatibility.environments import Broken, Shop, interpreter, made, open_shop, run, versions

SLOWEST = "900"  # seconds of a test: a machine that has much else to do is no fault
PASSED, FAILED, ABSENT = "passed", "**failed**", "not tried"


def main() -> int:
    """Try what was asked for, and say what came of it."""
    asked = _asked()
    chosen = [each for each in COMBINATIONS if not asked.names or each.name in asked.names]
    if asked.list:
        print(*(f"{each.name:18} {each.what}" for each in chosen), sep="\n")
        return 0
    shop = open_shop(asked.cache.resolve())
    print("| combination | with | tests | | |\n|---|---|---|---|---|", flush=True)
    outcomes = [_tried(shop, each, asked.python) for each in chosen]
    return int(FAILED in outcomes or bool(asked.names and ABSENT in outcomes))


def _asked() -> argparse.Namespace:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hermes-compatibility"
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility", description="With what else does it work?")
    names = [each.name for each in COMBINATIONS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--python", nargs="+", type=Path, default=[], metavar="PATH", help="interpreters to choose from"
    )
    parser.add_argument("--cache", type=Path, default=cache, help=f"where environments are made: {cache}")
    parser.add_argument("--list", action="store_true", help="say what there is, and do nothing")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in names]:
        parser.error(f"there is no {', '.join(unknown)}; choose from {', '.join(names)}")
    if missing := [str(each) for each in asked.python if not each.is_file()]:
        parser.error(f"there is no interpreter {', '.join(missing)}")
    return asked


def _tried(shop: Shop, combination: Combination, given: Sequence[Path]) -> str:
    """What came of one, told in a line of the table."""
    python = interpreter(combination.python, given)
    if python is None:
        print(
            f"| {combination.name} | no Python {combination.python} here: `--python PATH` | – | {ABSENT} | |",
            flush=True,
        )
        return ABSENT
    began = time.monotonic()
    outcome, having, counted = PASSED, "", "–"
    try:
        inside = made(shop, combination, python)
        having = versions(inside)
        counted = _tested(shop, combination, inside)
    except Broken as broken:
        outcome, counted = FAILED, _counted(str(broken)) or "–"
        (shop.folder / f"{combination.name}.log").write_text(str(broken), encoding="utf-8")
    seconds = f"{time.monotonic() - began:.0f} s"
    print(f"| {combination.name} | {having} | {counted} | {outcome} | {seconds} |", flush=True)
    return outcome


def _tested(shop: Shop, combination: Combination, python: Path) -> str:
    """How many tests passed."""
    with tempfile.TemporaryDirectory() as home:
        asked = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile"]
        asked += ["--timeout", SLOWEST]
        ours = {"HOME": home, "HERMES_HOME": f"{home}/.hermes", "HERMES_COMPATIBILITY": str(shop.folder)}
        ours["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        return _counted(run([*asked, *combination.tests], shop.bare, **ours))


def _counted(said: str) -> str:
    """Pytest's closing line."""
    found = re.findall(r"^(?:=+ )?(\d+ (?:failed|passed|error)[^\n]*?) in \d", said, re.MULTILINE)
    return found[-1] if found else ""


if __name__ == "__main__":
    sys.exit(main())
