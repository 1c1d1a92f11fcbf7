"""A process that records one exchange after the other and says which are in the file."""

from __future__ import annotations

import os
from pathlib import Path

from hermes_kernel.core.recording.cassette import Block, Called, Exchange, Request
from hermes_kernel.world.recording.reel import Reel

BLOCKS = 40


def exchange(number: int) -> Exchange:
    """One that can be known by its number."""
    message = {"role": "user", "content": f"question {number}"}
    blocks = tuple(Block(f"data: {number} {at}\n\n".encode(), 0.001) for at in range(BLOCKS))
    return Exchange(Request((message,)), blocks=blocks)


def called(number: int) -> Called:
    """A call that can be known by its number."""
    return Called("price", f'{{"n": {number}}}', f"result {number}")


def child(file: str, acks: str) -> None:
    """Record and acknowledge, until killed. What servers say of their models is told late, as it is."""
    reel = Reel(Path(file))
    handle = os.open(acks, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    number = 0
    while True:
        reel.keep(exchange(number))
        reel.keep_call(called(number))
        os.write(handle, b"%d\n" % number)
        number += 1
        if number % 8 == 0:
            reel.keep_window(f"model-{number}", 4096 + number)
