"""A loop over a corpus that needs nothing: seeds are cut, joined, repeated and sown with words and bytes."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from tests.fuzz.target import Target

MOST = 4_096  # bytes of an input, but for a few
HARD = (b"", b"\0", b"\xff", b"\xed\xa0\xbd", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\x1b[2J", b"\xe2\x80\xae", b"\xcc\x81",
        "١".encode(), "İ".encode(), "😀".encode(), b"1e999", b"9" * 4_400, b"NaN", b"-0", b"[" * 300, b'{"a":' * 300)  # fmt: skip


def inputs(target: Target, chance: random.Random) -> Iterator[bytes]:
    """First the seeds, then what becomes of them, without end."""
    yield from target.seeds
    corpus = [*target.seeds, b""]
    while True:
        made = mutated(chance.choice(corpus), target, chance)
        if len(corpus) < 200 and chance.random() < 0.1:
            corpus.append(made)
        yield made


def mutated(data: bytes, target: Target, chance: random.Random) -> bytes:
    """`data` after some of the things that happen to bytes."""
    made = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.randint(0, len(made)) for _ in range(2))
        match chance.randrange(8):
            case 0:
                del made[at:to]
            case 1:
                made[at:at] = made[at:to] * chance.choice((1, 2, 9))
            case 2 if made:
                made[min(at, len(made) - 1)] ^= 1 << chance.randrange(8)
            case 3:
                made[at:at] = chance.choice((*HARD, *target.words))
            case 4:
                made[at:at] = chance.randbytes(chance.randint(1, 4))
            case 5 if target.seeds:
                other = chance.choice(target.seeds)
                made[at:to] = other[: chance.randint(0, len(other))]
            case 6 if target.words:
                made[at:at] = b" ".join(chance.choices(target.words, k=chance.randint(1, 5)))
            case _:
                made[at:to] = bytes(reversed(made[at:to]))
    return bytes(made[:MOST] if chance.random() < 0.95 else made[: 8 * MOST])


def play(target: Target, *, seed: int, seconds: float = 0.0, times: int = 0) -> int:
    """So many inputs, or as many as fit into so many seconds: how many there were. The one that does not hold is in a
    note of what is raised."""
    until = time.monotonic() + seconds
    played = 0
    for data in inputs(target, random.Random(f"{target.name} {seed}")):
        if played >= times and (times or time.monotonic() >= until):
            return played
        attempt(target, data)
        played += 1
    return played


def attempt(target: Target, data: bytes) -> None:
    """Play one input; what goes wrong names it."""
    try:
        target.check(data)
    except BaseException as error:
        error.add_note(f"target {target.name}: {target.law}\ninput: {data[:2_000]!r}")
        raise
