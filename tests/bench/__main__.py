"""``python -m tests.bench [--rounds N] [--only GROUP ...] [--write]``: everything side by side, as one table for a group.

Contenders are asked in turn, each sample in a fresh process, and medians are told. With ``--write`` the figures of the
measured groups go to `docs/figures.json`, and from there into the pages and the picture.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from tests.bench import written
from tests.bench.contenders import CONTENDERS
from tests.bench.looping import CHUNKS, SECONDS, SIZES, Loops
from tests.bench.looping import rows as looping
from tests.bench.rows import Row
from tests.numbers import some

MODULES = {
    "the loop": ["looping"],
    "stops": ["stopping", "stopping_peers"],
    "starting": ["starting"],
    "the store": ["store"],
    "panels": ["live"],
    "long conversations": ["long"],
    "learning": ["learning"],
}
"""By group, who measures it. The loop also tells what its processes take: `the process`."""


def measured(group: str, rounds: int, contenders: Sequence[str], loops: Loops) -> Iterator[Row]:
    """The lines of a group, each as soon as it is known."""
    for name in MODULES[group]:
        began = time.monotonic()
        if name == "looping":
            yield from looping(rounds, contenders, loops)
        else:
            yield from import_module(f"tests.bench.{name}").rows(rounds, contenders)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def asked(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=some, default=5, help="samples of each figure (5)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(MODULES),
        default=list(MODULES),
        metavar="GROUP",
        help=f"of: {', '.join(MODULES)}",
    )
    parser.add_argument(
        "--contenders",
        nargs="+",
        choices=list(CONTENDERS),
        default=list(CONTENDERS),
        metavar="NAME",
        help=f"of: {', '.join(CONTENDERS)}",
    )
    sizes = ", ".join(f"{size:,}" for size in SIZES)
    parser.add_argument(
        "--iterations",
        nargs="+",
        type=some,
        default=SIZES,
        metavar="N",
        help=f"of the loop ({sizes})",
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"of CPU, after which a loop is not waited for ({SECONDS:.0f})"
    )
    parser.add_argument("--chunks", type=some, default=CHUNKS, help=f"of a streamed answer ({CHUNKS:,})")
    parser.add_argument("--write", action="store_true", help="renew docs/figures.json, the pages and the picture")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str], tell: Callable[[str], object]) -> None:
    """Measure, tell, and write."""
    given = asked(arguments)
    loops, found = Loops(tuple(given.iterations), given.seconds, given.chunks), list[Row]()
    for group in given.only:
        lines = written.merged(measured(group, given.rounds, given.contenders, loops))
        for each in dict.fromkeys(row.group for row in lines):
            tell(f"**{each}**\n\n{written.grouped(lines, each)}\n")
        if given.write:
            written.write(written.renewed(written.kept(), lines, loops.curves(), given.rounds))
        found += lines
    if told := written.bars(found):
        tell(told)


if __name__ == "__main__":
    main(sys.argv[1:], print)
