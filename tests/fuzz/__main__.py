"""The command: ``python -m tests.fuzz [TARGET …] [--seconds N] [--seed N] [--list] [--growth]``.

Each target is a process of its own, for atheris goes on until it is told. Its corpus is a folder that is kept with
``--corpus``. Exits with 1 if something did not hold, and says which bytes.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from tests.fuzz.growth import TIMES, grown
from tests.fuzz.mutating import attempt, play
from tests.fuzz.target import TARGETS, Target


def main() -> int:
    load()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="which; all, where none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each of them")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--corpus", type=Path, help="a folder in which inputs are kept from run to run")
    parser.add_argument("--list", action="store_true", help="say which there are, and what holds")
    parser.add_argument(
        "--growth", action="store_true", help="say instead where time grows by more than the input does"
    )
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if strange := set(options.targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(strange))}; there are {', '.join(TARGETS)}")
    named = [TARGETS[name] for name in options.targets or TARGETS]
    if options.list:
        print(*(f"{each.name:<16} {each.law}" for each in named), sep="\n")
        return 0
    if options.alone:
        return alone(named[0], options)
    if options.growth:
        return max([int(growing(each)) for each in named])
    print(f"seed {options.seed}, {engine()}", flush=True)
    return max([beside(each, options) for each in named])


def growing(each: Target) -> bool:
    found = list(grown(each))
    print(f"{each.name}: {'even' if not found else ''}", flush=True)
    for unit, small, large in found:
        print(f"    {unit[:60]!r}: {small:.3f} s, {TIMES} times as much {large:.3f} s", flush=True)
    return bool(found)


def load() -> None:
    """Make every target known; what atheris is to see, it looks at as it is imported."""
    if "--alone" in sys.argv and engine() == "atheris":
        import atheris

        with atheris.instrument_imports(include=["hermes_kernel", "magics"]):
            import tests.fuzz.every
    else:
        import tests.fuzz.every  # noqa: F401


def engine() -> str:
    try:
        import atheris  # noqa: F401
    except ImportError:
        return "a loop of our own: atheris is not installed"
    return "atheris"


def beside(each: Target, options: argparse.Namespace) -> int:
    """In a process of its own."""
    more = ["--corpus", str(options.corpus)] if options.corpus else []
    command = [sys.executable, "-m", "tests.fuzz", each.name, "--alone", f"--seconds={options.seconds}"]
    done = subprocess.run([*command, f"--seed={options.seed}", *more], check=False)
    return int(done.returncode != 0)


def alone(each: Target, options: argparse.Namespace) -> int:
    if engine() != "atheris":
        try:
            played = play(each, seed=options.seed, seconds=options.seconds)
        except BaseException:
            traceback.print_exc()
            return 1
        print(f"{each.name}: {played:,} inputs", flush=True)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        corpus = (options.corpus or Path(folder)) / each.name
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(each.seeds):
            (corpus / f"seed-{number}").write_bytes(seed)
        return guided(each, options, corpus, Path(folder))


def guided(each: Target, options: argparse.Namespace, corpus: Path, folder: Path) -> int:
    """With atheris, which sees what each input reaches. It ends the process when it has found something."""
    import atheris

    words = folder / "words"
    words.write_text("".join(f'"{escaped(word)}"\n' for word in each.words))
    limits = [f"-max_total_time={options.seconds}", f"-seed={options.seed or 1}", "-timeout=60", "-rss_limit_mb=4096"]
    told = [f"-dict={words}"] if each.words else []
    kept = ["-max_len=8192", f"-artifact_prefix={folder}/", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *limits, *told, *kept, str(corpus)], lambda data: attempt(each, data))
    atheris.Fuzz()
    return 0


def escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main())
