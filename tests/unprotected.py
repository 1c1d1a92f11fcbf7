"""Does a test hold what the page about security claims? Each removal takes one protection away, and every test that it
names must go red. ``python -m tests.unprotected`` takes one after the other away in a copy and runs those tests there::

    python -m tests.unprotected                        all of them
    python -m tests.unprotected --only Secrets link    those of a part of the page, or with such words in them

It prints each claim, what is left without its protection and what noticed, and exits with 1 if a test that was named did
not: then the claim or the test is too weak. `tests/test_unprotected.py` sees to it that the table fits page and code.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.claims import Removal, meant
from tests.mutations import AT_ONCE, Copies, Mutation, Verdict, tested
from tests.unprotected_files import FILES
from tests.unprotected_reading import READING

REMOVALS: tuple[Removal, ...] = (*READING, *FILES)


def mutations(removal: Removal) -> list[Mutation]:
    """What is changed in the code, and the tests that are to notice."""
    named = meant(removal).tests
    tests = tuple(named[words] for words in removal.tests)
    return [Mutation(removal.left, edit.file, edit.old, edit.new, tests) for edit in removal.edits]


def blind(removal: Removal, verdict: Verdict) -> list[str]:
    """Those of its tests that did not notice."""
    red = {test.partition("[")[0] for test in verdict.failed}
    return [words for words in removal.tests if meant(removal).tests[words] not in red]


def red(copies: Copies, tests: Sequence[str]) -> int:
    """How many of the tests fail on the code as it is, which is said."""
    with copies.one() as tree:
        verdict = tested(tree, tests, ())
    if verdict.failed or verdict.wrong:
        print(f"red on the code as it is: {', '.join(verdict.failed) or verdict.wrong}", flush=True)
    return len(verdict.failed) or bool(verdict.wrong)


def held(removals: Sequence[Removal]) -> bool:
    """Take away what each says, and print what noticed; whether all did that should."""
    with tempfile.TemporaryDirectory(prefix="hermes-unprotected-") as folder, ThreadPoolExecutor(AT_ONCE) as workers:
        copies = Copies(Path(folder), AT_ONCE)
        made = [mutations(removal) for removal in removals]
        left = red(copies, sorted({test for each in made for test in each[0].tests}))
        for removal, verdict in zip(removals, workers.map(copies.without, made), strict=True):
            print(told(removal, verdict), flush=True)
            left += bool(blind(removal, verdict))
    print(f"{len(removals)} removals: " + (f"{left} NOT noticed" if left else "each was noticed"))
    return not left


def told(removal: Removal, verdict: Verdict) -> str:
    """What is to be read of one."""
    claim, unseen = meant(removal), blind(removal, verdict)
    lines = [f"{claim.part}: {claim.text}", f"    without: {removal.left} ({verdict.seconds:.0f} s)"]
    lines += [f"    noticed: {words}" for words in removal.tests if words not in unseen]
    lines += [f"    NOT NOTICED: {words} {verdict.wrong}" for words in unseen]
    return "\n".join(lines)


def _has(removal: Removal, words: Sequence[str]) -> bool:
    said = " ".join((meant(removal).part, meant(removal).text, removal.left, *removal.tests))
    return any(word in said for word in words)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.unprotected", description="Does a test hold each claim?")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORDS", help="those with one of these in them")
    only = parser.parse_args(arguments).only
    chosen = [removal for removal in REMOVALS if not only or _has(removal, only)]
    if not chosen:
        print(f"none has {' or '.join(only)} in it")
        return 1
    return 0 if held(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
