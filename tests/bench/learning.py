"""``python -m tests.bench.learning [ROUNDS]``: what memory and skills cost a conversation, as a Markdown table.

A prompt's tokens are those of our own estimate of text, which `tests.bench.tokens` holds to real models; here only their
ratio counts. Times are of one process with its files in the cache of the machine: medians of so many rounds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from statistics import median

from hermes_kernel import Agent
from hermes_kernel.core.gauge import Gauge, weighed
from hermes_kernel.core.learning.memory import Limits, Operation
from hermes_kernel.core.messages import User
from hermes_kernel.learning.memory import Memory
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.testing import FastClock, Server, forever, say
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.memory import MemoryLog
from tests.bench.figures import sampled, table, timed
from tests.bench.rows import OURS, Row

FEW, MANY, MOST = 40, 1_000, 10_000
ROOT = Path(__file__).parents[2]
AREAS = ("cleaning", "plotting", "profiling", "exploring", "reporting", "joining", "pricing", "scraping")
THINGS = ("tables", "dates", "invoices", "sensors", "maps", "texts", "prices", "logs", "images", "genes")


def with_skills(home: Path, many: int) -> Path:
    """A home with so many skills, each a page long and described in a sentence as people do."""
    for n in range(many):
        name = f"{AREAS[n % 8]}-{THINGS[n // 8 % 10]}-{n}"
        said = f"{AREAS[n % 8].title()} {THINGS[n // 8 % 10]} of kind {n}. Use when such a file is to be worked on."
        folder = home / "skills" / name
        folder.mkdir(parents=True)
        body = f"# {name}\n\n" + "1. Look at the head, then at the types.\n2. Do it, and check the counts.\n" * 15
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {said}\n---\n\n{body}")
    return home


def library(home: Path) -> Library:
    """One that has seen nothing yet."""
    numbers = count()
    return Library(home, home / "none", Chronicle(MemoryLog(), lambda: f"id-{next(numbers)}"))


def tokens(home: Path) -> int:
    """Of the whole prompt of a first question on that home: system prompt, tools and question, as they went over HTTP."""
    with Server(forever(say("Yes."))) as server:
        agent = Agent("scripted", home=home, base_url=server.url, api_key="none", learning=False)
        try:
            agent.ask_sync("Is it so?")
        finally:
            agent.close()
        return Gauge().tokens(weighed(User(str(server.requests[0].body))))


def milliseconds(act: Callable[[], object], rounds: int) -> str:
    """Medians of wall time and of this process's processor time, which says more on a busy machine."""
    costs = sampled(lambda _: act(), [None], rounds, 60)
    return (
        f"{median(each.wall for each in costs) * 1e3:.3g} ms (processor {median(each.cpu for each in costs) * 1e3:.3g})"
    )


def starting(home: Path) -> float:
    """Seconds of a fresh process that makes an agent and closes it, less what Python itself takes."""
    code = (
        "import time; began = time.perf_counter()\n"
        "from pathlib import Path\nfrom hermes_kernel import Agent\n"
        f"Agent('m', home=Path({str(home)!r}), base_url='http://127.0.0.1:9/v1', api_key='none', learning=False).close()\n"
        "print(time.perf_counter() - began)"
    )
    return float(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    )


def of_prompts(place: Path) -> Iterator[tuple[str, str]]:
    few, many = (tokens(with_skills(place / f"p{n}", n)) for n in (FEW, MANY))
    yield f"tokens of a prompt with {FEW} skills", f"{few:,}"
    yield f"tokens of a prompt with {MANY:,} skills", f"{many:,} ({many / few:.2f} ×)"


def of_skills(place: Path, rounds: int) -> Iterator[tuple[str, str]]:
    home = with_skills(place / "most", MOST)
    yield f"index of {MOST:,} skills, cold", milliseconds(lambda: library(home).index(), max(rounds // 3, 2))
    warm = library(home)
    warm.index()
    yield f"index of {MOST:,} skills, warm", milliseconds(warm.index, rounds)
    some = library(place / f"p{MANY}")
    index = some.index()
    yield f"news of {MANY:,} skills, none changed", milliseconds(lambda: some.news(index), rounds)
    yield f"search in {MOST:,} skills", milliseconds(lambda: warm.search("profiling invoices"), rounds)


def of_memory(place: Path, rounds: int) -> Iterator[tuple[str, str]]:
    numbers = count()
    new_id = lambda: f"id-{next(numbers)}"  # noqa: E731
    home = place / "memory"
    store = Store(home, clock=FastClock(), ids=new_id)
    memory = Memory(home, Limits, Chronicle(store, new_id), Proposals(home, FastClock(), new_id))

    def changed() -> None:
        n = next(numbers)
        memory.apply("memory", [Operation("add", f"Fact {n} is so.")], by="model")
        memory.apply("memory", [Operation("remove", old=f"Fact {n} is so.")], by="model")

    yield "two changes of memory, on disk and on record", milliseconds(changed, rounds)
    yield "the block of memory for a prompt", milliseconds(memory.block, rounds)
    store.close()


def of_turns(place: Path, rounds: int) -> Iterator[tuple[str, str]]:
    with Server(forever(say("Yes."))) as server:
        agent = Agent("scripted", home=place / "turns", base_url=server.url, api_key="none", learning=True)
        turn = agent.ask_sync("Is it so?")
        samples = [timed(lambda: agent.learning.reflector.after(turn)) * 1e6 for _ in range(rounds * 20)]
        agent.close()
    yield "after a turn, nothing due", f"{median(samples):.3g} µs (slowest {max(samples):.3g})"
    for n in (0, MANY):
        home = place / f"p{n}"
        took = [starting(home) for _ in range(max(rounds // 3, 2))]
        yield f"import, make and close an agent, {n:,} skills", f"{median(took) * 1e3:.3g} ms"


def rows(rounds: int, contenders: Sequence[str]) -> Iterator[Row]:
    """The headlines, of ours alone: what skills cost a prompt, and what looking after them costs a turn."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        few, many = (tokens(with_skills(place / f"p{n}", n)) for n in (FEW, MANY))
        yield Row("learning", f"prompt with {MANY:,} skills, over one with {FEW}", "×", {OURS: many / few}, 1.2)
        some = library(place / f"p{MANY}")
        index = some.index()
        costs = sampled(lambda _: some.news(index), [None], max(rounds, 5), 60)
        news = median(each.cpu for each in costs) * 1e3
        yield Row("learning", f"seeing that none of {MANY:,} skills has changed, CPU", "ms", {OURS: news})


def main(rounds: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows = [*of_prompts(place), *of_skills(place, rounds), *of_memory(place, rounds), *of_turns(place, rounds)]
        print(table(("measured", "ours"), rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
