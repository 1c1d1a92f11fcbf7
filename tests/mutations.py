"""Would anything notice? Each line of `MUTATIONS` breaks one rule that a person relies on, and names the tests that are
to go red. ``python -m tests.mutations`` breaks one after the other in a copy and runs those tests there::

    python -m tests.mutations              all of them, two at a time: a quarter of an hour
    python -m tests.mutations --only jitter patience

It prints what noticed each, and exits with 1 if one survived: then a law is missing. `tests/test_mutations.py` sees to it
that the table fits the code.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from hermes_kernel.world.tools.runaways import kill_marked

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("hermes_kernel", "magics", "tests", "notebooks", "docs", "README.md", "CHANGELOG.md", "pyproject.toml")
PAGES = ROOT / "tests" / "browser" / "node_modules"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", ".ipynb_checkpoints", ".hypothesis")
AT_ONCE = 2
SECONDS = 600.0  # for the tests of one mutation
FIRST = ("-x",)  # that fails is enough
WHERE = "HERE_A_RULE_IS_BROKEN"  # in the environment of all that is run there, with the place


class Mutation(NamedTuple):
    """In ``file`` the one place that says ``old`` says ``new`` instead; then one of ``tests`` must fail: files of tests,
    notebooks, or single tests as pytest names them."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def _core(name: str, file: str, old: str, new: str, *tests: str) -> Mutation:
    """A rule of `hermes_kernel/core`, which laws hold."""
    named = (test if "::" in test else f"{test}.py" for test in tests)
    return Mutation(name, f"hermes_kernel/core/{file}", old, new, tuple(f"tests/laws/{test}" for test in named))


MUTATIONS: tuple[Mutation, ...] = (
    # a turn and its budget
    _core("one call more than the budget", "budget.py",
          "return self.limit - self.spent - self.leased", "return self.limit - self.spent - self.leased + 1",
          "test_budget", "test_decide", "test_turn_laws"),
    _core("leases are not counted", "budget.py",
          "return self.limit - self.spent - self.leased", "return self.limit - self.spent",
          "test_budget", "test_decide", "test_turn_laws"),
    _core("ninety-one calls", "budget.py", "max_iterations: int = 90", "max_iterations: int = 91",
          "test_budget", "test_decide", "test_turn_laws"),
    _core("the closing words are offered tools", "policy.py", "tools=not grace,", "tools=True,", "test_decide"),
    _core("what is given back is not counted", "record.py",
          "refunds=turn.refunds + calls, reply=None", "refunds=turn.refunds, reply=None", "test_decide", "test_turn_laws"),
    _core("a cut answer is continued four times", "budget.py",
          "max_continuations: int = 3", "max_continuations: int = 4", "test_decide"),
    _core("a call that was cut is run", "record.py",
          "return _cut(turn, reply) if reply.cut else _said(turn, reply)", "return _said(turn, reply)",
          "test_decide", "test_turn_laws"),
    _core("nothing said is an answer", "policy.py",
          "_end(turn, Outcome.EMPTY, prompts", "_end(turn, Outcome.COMPLETED, prompts", "test_decide"),
    _core("a call that keeps failing is tried an eighth time", "policy.py", "STUBBORN = 7", "STUBBORN = 8", "test_decide"),
    _core("results stand in order of arrival", "record.py",
          "while at > start and rank[transcript[at - 1].call_id] > rank[result.call_id]:",
          "while at > start and rank[transcript[at - 1].call_id] > len(rank):", "test_decide", "test_turn_laws"),
    _core("undo takes back one turn less", "record.py",
          "kept = max(len(turn.starts) - turns, 0)", "kept = max(len(turn.starts) - turns + 1, 0)",
          "test_decide", "test_turn_laws"),
    _core("the parent keeps nothing for itself", "budget.py",
          "spare = remaining - beside", "spare = remaining", "test_budget"),
    # faults
    _core("a spent quota is waited for", "faults.py", "Fault.BILLING: _HOPELESS", "Fault.BILLING: _PATIENT", "test_ladders"),
    _core("what nobody recorded is asked again", "faults.py",
          "Fault.NOT_RECORDED: (Action.GIVE_UP,)", "Fault.NOT_RECORDED: _PATIENT", "test_ladders"),
    _core("a refusal of the filter is a failure", "faults.py",
          "(Action.FALL_BACK, Action.REFUSE)", "(Action.FALL_BACK, Action.GIVE_UP)", "test_decide"),
    _core("four retries", "budget.py", "max_retries: int = 3", "max_retries: int = 4", "test_decide"),
    Mutation("waits that do not grow", "hermes_kernel/core/faults.py",
             "return min(base * 2.0 **", "return min(base * 1.0 **", ("notebooks/02_streams.ipynb",)),
    _core("a wait without a limit", "faults.py",
          "(attempt - (fault in OF_A_CONNECTION)), cap)", "(attempt - (fault in OF_A_CONNECTION)), cap * 9)",
          "test_decide", "test_turn_laws"),
    _core("patience", "policy.py",
          "0 if (failed.wait or 0) > limits.patience_seconds else waits", "waits", "test_decide"),
    _core("Retry-After is ignored", "policy.py",
          "return Wait(failed.wait, attempt + 1", "return Wait(seconds, attempt + 1", "test_decide"),
    _core("the header of a wait is not read", "hints.py",
          '_retry_after(headers.get("retry-after", ""), now),', '_retry_after(headers.get("retry_after", ""), now),',
          "test_hints"),
    _core("503 is an error like any other", "classify.py", "503: Fault.OVERLOADED", "503: Fault.FORMAT_ERROR",
          "test_ladders"),
    _core("a quota for hours is a rate limit", "classify.py",
          "(trouble.wait or 0) > LONG_LIMIT_SECONDS", "(trouble.wait or 0) > LONG_LIMIT_SECONDS * 100", "test_classify"),
    Mutation("jitter", "hermes_kernel/world/perform.py", "JITTER = 0.25", "JITTER = 0.0",
             ("tests/faults/test_refusals.py::test_waits_double_from_five_seconds_to_two_minutes_with_a_quarter_of_jitter",)),
    Mutation("silence is borne for ever", "hermes_kernel/world/model/watch.py",
             "if self._no_byte >= self.patience.stale:", "if self._no_byte >= self.patience.stale * 1_000:",
             ("tests/laws/test_watch_laws.py",)),
    Mutation("whatever is sent is a reply that goes on", "hermes_kernel/world/model/reading.py",
             "            return events, True\n        return events, False", "            return events, True\n        return events, True",
             ("tests/faults/test_broken_streams.py::test_a_silent_connection_is_closed_and_a_fresh_one_opened",)),
    Mutation("a refusal is read to its end", "hermes_kernel/world/model/pool.py", "REFUSAL = 1_000_000", "REFUSAL = 1_000_000_000_000",
             ("tests/contracts/test_model_wire.py::test_of_a_refusal_without_end_the_beginning_is_read_and_told",)),
    Mutation("a model asked too often is not waited for", "hermes_kernel/world/model/rate.py",
             "return max(own, self._renewed - elapsed, 0.0)", "return max(self._renewed - elapsed, 0.0)",
             ("tests/contracts/test_model_wire.py::test_a_limit_of_requests_is_waited_for_before_the_call",)),
    # streams
    _core("a retry says again what was shown", "seam.py",
          "return self._tell(text[len(ahead) :])", "return self._tell(text)", "test_seam_laws"),
    # long conversations
    Mutation("compression keeps nineteen", "hermes_kernel/settings.py",
             "protect_last: int = whole(20,", "protect_last: int = whole(19,",
             ("tests/test_settings.py",)),
    _core("compression keeps one message less than it is told", "compression/planning.py",
          "kept >= keep.last or", "kept >= keep.last - 1 or", "test_compression"),
    _core("a summary is begun only when the window is nearly full", "fill.py",
          "max(limits.compress_at * self.window, begun)", "max(limits.compress_hard_at * self.window, begun)",
          "test_fill", "test_decide"),
    Mutation("summaries begin at sixty in a hundred", "hermes_kernel/settings.py",
             "compress_at: float = number(0.5,", "compress_at: float = number(0.6,", ("tests/test_settings.py",)),
    _core("fruitless compressions go on", "fill.py",
          "self.fruitless < limits.fruitless and", "self.fruitless < limits.fruitless * 9 and", "test_fill", "test_decide"),
    # memory and skills
    Mutation("a nudge after eleven turns", "hermes_kernel/settings.py",
             "nudge_every_turns: int = whole(10,", "nudge_every_turns: int = whole(11,",
             ("tests/test_settings.py",)),
    _core("a nudge a turn late", "learning/looking.py",
          "if unseen.turns >= every:", "if unseen.turns > every:", "test_looks"),
    Mutation("memory has 3,576 characters", "hermes_kernel/settings.py",
             "memory_chars: int = whole(2200,", "memory_chars: int = whole(2201,",
             ("tests/test_settings.py",)),
    _core("memory holds one character more", "learning/memory.py",
          "memory: int = 2200", "memory: int = 2201", "test_memory"),
    _core("the curator waits thirty-one days", "learning/curating.py",
          "stale_days: float = 30.0", "stale_days: float = 31.0", "test_curating"),
    _core("the curator waits ninety-one days", "learning/curating.py",
          "archive_days: float = 90.0", "archive_days: float = 91.0", "test_curating"),
    _core("the curator moves what a person made", "learning/curating.py",
          "if self.origin != AGENT:", "if not self.origin:", "test_curating"),
    _core("a pinned skill is moved", "learning/curating.py",
          '"pinned" if self.pinned else', '"pinned" if self.pinned and self.disabled else', "test_curating"),
    # sessions and search
    _core("a filter of search lets the other roles in", "search/rank.py",
          "and said.role not in filters.no_role", "and said.role is not None", "test_search_rank"),
    _core("what is before a day includes the day", "search/rank.py",
          "said.t < filters.before", "said.t <= filters.before", "test_search_rank"),
    # schedules
    _core("a time that clocks jump over is shown", "schedule/clocks.py",
          "return (one, two) if one < two else ()", "return (one, two)", "test_schedule_cron"),
    _core("a time that clocks show twice is run twice", "schedule/clocks.py",
          "return times[0] if times else jump(wall, zone)", "return times[-1] if times else jump(wall, zone)",
          "test_schedule_cron"),
    _core("a job that had all its runs goes on", "schedule/coming.py",
          "return 0 < job.repeat <= ledger.runs", "return 0 < job.repeat < ledger.runs", "test_due"),
    _core("a report is tried four times", "schedule/due.py", "ATTEMPTS = 3", "ATTEMPTS = 4", "test_due"),
    _core("silence in the middle of a line", "schedule/silence.py",
          "return ALONE.fullmatch(line.strip()) is not None", "return ALONE.search(line.strip()) is not None",
          "test_schedule_silence"),
    # security
    _core("no rule for keys of AWS", "shapes.py", '_word("AWS key", r"(?:AKIA|ASIA)', '_word("AWS key", r"(?:AKIX|ASIX)',
          "test_redact"),
    _core("known secrets are kept", "redact.py", "for form in _forms(frozenset(secrets)):", "for form in _forms(frozenset()):", "test_redact"),
    _core("a link may run a script", "safe.py",
          'LINKS = ("http://", "https://", "mailto:")', 'LINKS = ("http://", "https://", "mailto:", "javascript:")',
          "test_view"),
    Mutation("a write elsewhere is not asked about", "hermes_kernel/world/tools/places.py",
             "    if target.is_relative_to(work):", "    if target.is_absolute():",
             ("tests/contracts/test_tools_approvals.py", "tests/contracts/test_tools_files.py")),
    Mutation("a link leads out of the folder", "hermes_kernel/world/tools/places.py",
             "target = Path(os.path.realpath(folder / _home_of(path)))",
             "target = Path(os.path.normpath(folder / _home_of(path)))",
             ("tests/contracts/test_tools_approvals.py", "tests/contracts/test_tools_files.py")),
    Mutation("a model may allow itself", "hermes_kernel/world/tools/places.py",
             "return named in CONSENTS or named.startswith(WAITING)", "return named.startswith(WAITING)",
             ("tests/contracts/test_tools_approvals.py", "tests/contracts/test_tools_files.py")),
    Mutation("where nobody is, everything is allowed", "hermes_kernel/world/tools/approvals.py",
             'return Approved(ready.call.id, False, "headless")', 'return Approved(ready.call.id, True, "headless")',
             ("tests/contracts/test_tools_approvals.py",)),
    _core("a skill is written outside its folder", "learning/skill_paths.py",
          'return next((why for part in parts if (why := _wrong_part(part))), "") or _like_main(parts)',
          "return _like_main(parts)", "test_skill_paths"),
    # recordings and specs
    _core("the system prompt counts", "recording/normal.py",
          '_INSTRUCTIONS = ("system", "developer")', '_INSTRUCTIONS = ("developer",)', "test_recording"),
    _core("the order of arguments counts", "recording/normal.py",
          "ensure_ascii=False, sort_keys=True)", "ensure_ascii=False)", "test_recording"),
    _core("whether tools were offered does not count", "recording/cassette.py",
          '_sha(f"{self.digest} {self.tools}")', '_sha(f"{self.digest}")', "test_recording"),
    _core("the same request has one answer", "recording/finding.py",
          "return given % many", "return 0 % many", "test_recording_finding"),
    _core("a torn recording is refused", "recording/reading.py",
          "if not (unended and isinstance(wrong, _NoJsonError)):", "if unended or not isinstance(wrong, OSError):",
          "test_recording_lines.py::test_a_file_of_nothing_is_torn"),
    _core("a secret that a stream cut is recorded", "recording/bodies.py",
          'whole = "".join(leaf.value for leaf in row)', "whole = row[0].value",
          "test_recording_secrets.py::test_a_long_stream_is_looked_through_quickly"),
    _core("a home is told apart from another", "recording/normal.py",
          '(places.home, "<home>"), (places.here, "<here>")', '(places.here, "<here>")', "test_recording"),
    Mutation("a spec begins when it is begun", "hermes_kernel/world/spec.py",
             "START = 1_767_225_600.0", "START = 1_767_225_601.0", ("tests/laws/test_spec.py",)),
    Mutation("turns of a spec begin at once", "hermes_kernel/world/spec.py",
             "TURN = 1.0", "TURN = 0.0", ("tests/laws/test_spec.py",)),
    Mutation("ids of a spec that are taken are given again", "hermes_kernel/world/spec.py",
             "while self._taken(made := self._next()):", "while not (made := self._next()):", ("tests/laws/test_spec.py",)),
)  # fmt: skip


def mutated(mutation: Mutation, root: Path) -> str:
    """The text of the file that the mutation makes.

    Raises:
        ValueError: the text that it replaces is not there, or in several places.
    """
    text = (root / mutation.file).read_text(encoding="utf-8")
    if (times := text.count(mutation.old)) != 1:
        raise ValueError(f"{mutation.name}: {mutation.old!r} is {times} times in {mutation.file}")
    return text.replace(mutation.old, mutation.new)


class Verdict(NamedTuple):
    """What became of a run of tests: those that failed, or none; or why it tells nothing."""

    failed: tuple[str, ...]
    wrong: str
    seconds: float


class Copies:
    """Copies of the tree, one for each who works at the same time."""

    def __init__(self, folder: Path, many: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(many):
            tree = folder / str(number)
            for name in COPIED:
                source = ROOT / name
                if source.is_dir():
                    shutil.copytree(source, tree / name, ignore=LEFT_OUT)
                else:
                    shutil.copy(source, tree / name)
            if PAGES.exists():
                (tree / PAGES.relative_to(ROOT)).symlink_to(PAGES)
            self._free.put(tree)

    @contextmanager
    def one(self) -> Iterator[Path]:
        """A copy that is nobody else's meanwhile."""
        tree = self._free.get()
        try:
            yield tree
        finally:
            self._free.put(tree)

    def broken(self, mutation: Mutation) -> Verdict:
        """What the tests say of the mutation."""
        with self.one() as tree, made(mutation, tree):
            return tested(tree, mutation.tests, FIRST)

    def without(self, protections: Sequence[Mutation]) -> Verdict:
        """What the tests of the first say, each of them, when all of them are made."""
        with self.one() as tree, ExitStack() as everything:
            for one in protections:
                everything.enter_context(made(one, tree))
            return tested(tree, protections[0].tests, ())

    def whole(self, test: str) -> Verdict:
        """What a test says of the code as it is."""
        with self.one() as tree:
            return tested(tree, (test,), FIRST)


@contextmanager
def made(mutation: Mutation, tree: Path) -> Iterator[None]:
    """A tree in which it is, until it is let go of."""
    file = tree / mutation.file
    whole, broken = file.read_text(encoding="utf-8"), mutated(mutation, tree)
    file.write_text(broken, encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(whole, encoding="utf-8")


def tested(tree: Path, tests: Sequence[str], options: Sequence[str]) -> Verdict:
    """Run `tests` on the code of `tree`, with `options` of pytest."""
    began = time.monotonic()
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *options]
    command += ["--nbval", "--nbval-sanitize-with", "tests/notebooks/sanitize.cfg"] * _any_notebook(tests)
    inside = {**os.environ, "PYTHONPATH": str(tree), "HOME": str(tree.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    inside[WHERE] = str(tree)
    try:
        ran = subprocess.run(
            [*command, *tests], cwd=tree, env=inside, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Verdict((), f"not done in {SECONDS:.0f} s", SECONDS)
    finally:
        end_all(tree)
    seconds = time.monotonic() - began
    failed = tuple(re.findall(r"^FAILED (\S+)", ran.stdout, re.MULTILINE))
    if ran.returncode == 1 and failed and not re.search(r"^ERROR \S", ran.stdout, re.MULTILINE):
        return Verdict(failed, "", seconds)
    return Verdict((), "" if ran.returncode == 0 else (ran.stdout + ran.stderr).strip()[-2_000:], seconds)


def end_all(tree: Path) -> None:
    """What lives on because a rule was broken: a kernel without its notebook, a model's server without a user."""
    kill_marked(str(tree), WHERE)


def _any_notebook(tests: Iterable[str]) -> bool:
    return any(test.partition("::")[0].endswith(".ipynb") for test in tests)


def survivors(mutations: Sequence[Mutation]) -> list[str]:
    """Break what each says and print what noticed; the names of those that nothing did."""
    left: list[str] = []
    with tempfile.TemporaryDirectory(prefix="hermes-mutations-") as folder, ThreadPoolExecutor(AT_ONCE) as workers:
        copies = Copies(Path(folder), AT_ONCE)
        every = sorted({test for mutation in mutations for test in mutation.tests})
        for test, verdict in zip(every, workers.map(copies.whole, every), strict=True):
            if verdict.failed or verdict.wrong:
                print(f"{test} is red on the code as it is: {next(iter(verdict.failed), verdict.wrong)}", flush=True)
                left.append(test)
        for mutation, verdict in zip(mutations, workers.map(copies.broken, mutations), strict=True):
            told = next(iter(verdict.failed), verdict.wrong or "SURVIVED")
            print(f"{mutation.name:<54} {verdict.seconds:5.1f} s  {told}", flush=True)
            left += [] if verdict.failed else [mutation.name]
    return left


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description="Would a test notice?")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="those whose names hold one of these")
    only = parser.parse_args(arguments).only
    chosen = [one for one in MUTATIONS if not only or any(part in one.name for part in only)]
    left = survivors(chosen) if chosen else [f"none is called {' or '.join(only)}"]
    print(f"{len(chosen)} mutations: " + (f"NOT noticed: {', '.join(left)}" if left else "each was noticed"))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
