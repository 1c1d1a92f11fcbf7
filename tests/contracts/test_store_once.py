"""A fact is stored once, though its append was broken off and it was given again."""

from __future__ import annotations

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.events import Asked, Opened, Titled
from hermes_kernel.core.plain import dump
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.ends import RECENT, Ends
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.stores import child, counted, done, journals, store, told

STORM = """
import sys
from pathlib import Path
from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import Opened, Titled
from hermes_kernel.session import Session
from hermes_kernel.world.store import Store
from stores import under_interrupts
session = Session(Store(Path(sys.argv[1])), Limits())
session.open(Opened("s"))
session.keep(Titled("0"))
told = under_interrupts(lambda n: session.keep(Titled(str(n))))
session.keep(Titled("1501"))
print(*told)
"""


def test_a_conversation_under_a_rain_of_interrupts_has_each_of_its_facts_once_and_in_order(tmp_path):
    acknowledged = done(child(STORM, tmp_path)).split()
    opened, *found = store(tmp_path).recall("s")
    assert opened == Opened("s")
    numbers = [int(fact.title) for fact in found]
    assert numbers == sorted(set(numbers))
    assert (numbers[0], numbers[-1]) == (0, 1501)
    assert set(map(int, acknowledged)) <= set(numbers)
    lines = [line for path in journals(tmp_path) for line in path.read_bytes().splitlines()]
    folded = store(tmp_path, "fold").fold()
    assert (folded.facts, folded.damaged) == (len(numbers) + 1, 0)
    assert len(lines) >= folded.facts
    assert store(tmp_path).recall("s") == [opened, *found]


@pytest.fixture
def little_room():
    """This process may make files of a thousand bytes and no more, until it is said otherwise."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_the_disk_refused_is_given_again_and_stands_once_before_what_came_later(tmp_path, little_room):
    log = store(tmp_path)
    log.append("s", Opened("s"))
    refused = Titled("x" * 1000)
    with pytest.raises(StoreError):
        log.append("s", refused)
    little_room()
    log.append("s", refused, Asked("on"))
    log.append("s", Asked("on"))
    assert log.recall("s") == [Opened("s"), refused, Asked("on"), Asked("on")]


def test_what_was_acknowledged_and_is_said_again_stands_twice(tmp_path):
    log = store(tmp_path)
    told(log, "s", [Opened("s"), Titled("again"), Titled("again"), Titled("again")])
    assert log.recall("s") == [Opened("s"), *3 * [Titled("again")]]


@pytest.mark.parametrize("kind", ["store", "memory"])
def test_what_was_written_and_is_given_again_since_nobody_heard_of_it_stands_once(tmp_path, kind):
    """An interrupt may come when all is on the disk, right before who waits for it hears so."""
    log, unheard = store(tmp_path) if kind == "store" else MemoryLog(), (Titled("unheard"), Titled("of"))
    log.append("s", Opened("s"))
    log.append("s", *unheard)
    log.append("s", *unheard, Titled("next"))
    log.append("s", *unheard, Titled("other"))
    assert log.recall("s") == [Opened("s"), *unheard, Titled("next"), Titled("other")]
    if kind == "store":
        log.fold()
        assert store(tmp_path).recall("s") == [Opened("s"), *unheard, Titled("next"), Titled("other")]


STORM_IN_MEMORY = """
from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import Opened, Titled
from hermes_kernel.session import Session
from hermes_kernel.world.store.memory import MemoryLog
from stores import under_interrupts
log = MemoryLog()
session = Session(log, Limits())
session.open(Opened("s"))
session.keep(Titled("0"))
told = under_interrupts(lambda n: [session.keep(Titled(f"{n}")) for _ in range(100)], 200)
session.keep(Titled("end"))
facts = log.recall("s")
assert facts[:2] == [Opened("s"), Titled("0")] and facts[-1] == Titled("end")
assert len(set(map(id, facts))) == len(facts) > 200, len(facts)
print("whole")
"""


def test_a_log_in_memory_is_whole_under_a_rain_of_interrupts(tmp_path):
    assert done(child(STORM_IN_MEMORY, tmp_path)).split() == ["whole"]


def test_of_many_sessions_that_were_written_the_last_ones_are_known_again(tmp_path):
    log, said = store(tmp_path), Titled("said")
    for session in map(str, range(RECENT + 2)):
        log.append(session, Opened(session))
        log.append(session, said)
    log.append("0", Asked("on"))
    for session in (str(RECENT + 1), "0"):
        log.append(session, said)
    assert len(log.recall(str(RECENT + 1))) == 2
    assert log.recall("0") == [Opened("0"), said, Asked("on"), said]


words = st.lists(st.sampled_from("abc"), max_size=5)


@given(broken=words, kept=st.integers(0, 5), given_next=words)
def test_facts_given_again_keep_their_names_and_equal_ones_get_their_own(broken, kept, given_next):
    ends = Ends(lambda: 1.0, counted("uid"))
    ends.remember("s", [])
    first = [Titled(word) for word in broken]
    second = [*first[:kept], *(Titled(word) for word in given_next)]
    known = ends.place("s", first, [dump(fact) for fact in first])
    placed = ends.place("s", second, [dump(fact) for fact in second])
    same = len(first[:kept])
    assert placed[:same] == known[:same]
    assert [record.fact for record in placed] == [dump(fact) for fact in second]
    fresh = placed[same:]
    assert not {record.uid for record in fresh} & {record.uid for record in known}
    assert all(record.n >= len(known) for record in fresh)
