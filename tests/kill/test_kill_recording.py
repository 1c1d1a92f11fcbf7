"""A process that records is killed at any moment: what it had recorded is replayed, and another can go on from there."""

from __future__ import annotations

import random
import time
from functools import partial

from hermes_kernel.core.recording.reading import read
from hermes_kernel.world.recording.player import Player
from hermes_kernel.world.recording.reel import Reel
from tests.kill.acks import acknowledged
from tests.kill.nursery import nursery
from tests.kill.taping import called, exchange

TIMES = 30
LONGEST = 0.12  # seconds that a process lives


def test_what_was_recorded_when_a_process_was_killed_is_whole_and_can_be_gone_on_with(tmp_path):
    with nursery("tests.kill.taping:child") as children:
        told = [one_death(children, tmp_path / str(seed), seed) for seed in range(TIMES)]
    assert sum(told) > TIMES


def one_death(children, folder, seed):
    """How many exchanges are in the file of a process that was killed at some moment."""
    folder.mkdir()
    file, acks = folder / "x.cassette.jsonl", folder / "acks"
    moment = partial(time.sleep, random.Random(seed).uniform(0, LONGEST))
    assert children.run({"file": str(file), "acks": str(acks)}, moment) == -9
    safe = acknowledged(acks)
    if not file.exists():
        assert safe == 0
        return 0
    held = Player(file).cassette
    assert len(held.exchanges) in (safe, safe + 1)
    assert list(held.exchanges) == [exchange(number) for number in range(len(held.exchanges))]
    assert list(held.calls) == [called(number) for number in range(len(held.calls))]
    reel = Reel(file)
    reel.take_up(lambda: held.head, held)
    reel.keep(exchange(len(held.exchanges)))
    assert reel.news() == (), "the lock went with its holder"
    assert sorted(path.name for path in folder.iterdir()) == ["acks", file.name], "nothing half made is left"
    reel.let_go()
    after = read(file.read_bytes())
    assert not after.torn
    assert after.exchanges == (*held.exchanges, exchange(len(held.exchanges)))
    assert after.calls == held.calls
    return len(held.exchanges)
