"""A beginning of a word finds what begins so and nothing else, whether all of it is in a unit's head or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.world.store import MemoryLog, Store
from hermes_kernel.world.store.index.terms import HEAD

WORDS = (
    *("forecastings"[:length] for length in range(1, 13)),
    *("предсказание"[:length] for length in range(1, 13)),  # two bytes each
    *("𐌰𐌱𐌲𐌳𐌴"[:length] for length in range(1, 6)),  # four bytes each
    "forecastle",
    "forecz",
    "прогноз",
    "𐌰𐌱𐌳",
)


@pytest.mark.parametrize("length", range(1, 12))
def test_a_beginning_of_any_length_finds_what_a_look_at_every_message_finds(tmp_path: Path, length: int) -> None:
    store, memory = Store(tmp_path), MemoryLog()
    for log in (store, memory):
        log.append("s", Opened("s"), *map(Asked, WORDS))
    store.fold()
    for word in ("forecastings", "предсказание", "𐌰𐌱𐌲𐌳𐌴"):
        asked = f"{word[:length]}*"
        found = {hit.passage.text for hit in store.search(asked, 50).hits}
        assert found == {hit.passage.text for hit in memory.search(asked, 50).hits}
        assert store.search(asked).total == sum(each.startswith(word[:length]) for each in WORDS)


def test_there_are_words_on_both_sides_of_a_heads_end() -> None:
    lengths = {len(word.encode()) for word in WORDS}
    assert {HEAD - 1, HEAD, HEAD + 1} <= lengths
