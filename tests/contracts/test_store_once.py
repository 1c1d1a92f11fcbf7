"""A fact is stored once, though its append was broken off and it was given again."""

from __future__ import annotations

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.events import Asked, Opened, Titled
from hermes_kernel.core.plain import dump
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.ends import Ends
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
    said = Titled("again")
    told(log, "s", [Opened("s"), said, said, Titled("again")])
    assert log.recall("s") == [Opened("s"), said, said, said]


words = st.lists(st.sampled_from("abc"), max_size=5)


@given(broken=words, given_next=words)
def test_facts_given_again_keep_their_names_as_far_as_they_are_the_same(broken, given_next):
    ends = Ends(lambda: 1.0, counted("uid"))
    ends.remember("s", [])
    first = ends.place("s", [dump(Titled(word)) for word in broken])
    ends.broken["s"] = first
    second = ends.place("s", [dump(Titled(word)) for word in given_next])
    same = 0
    while same < min(len(broken), len(given_next)) and broken[same] == given_next[same]:
        same += 1
    assert second[:same] == first[:same]
    assert [record.fact for record in second] == [dump(Titled(word)) for word in given_next]
    fresh = second[same:]
    assert not {record.uid for record in fresh} & {record.uid for record in first}
    assert all(record.n >= len(first) for record in fresh)
