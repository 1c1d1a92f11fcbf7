"""Where room is nearly gone: what is large gives way to what has to be kept, and the turn goes on."""

from __future__ import annotations

import os

from hermes_kernel.core.events import Outcome
from hermes_kernel.testing import call, say
from tests.disks import small_disk
from tests.faults.played import play

ROOM = 300_000  # bytes: enough for what is said in a turn, and not for what a tool printed


async def test_a_result_that_is_too_large_for_the_disk_leaves_room_for_the_turn(tmp_path):
    printing = call("python", {"code": "print('x' * 900_000)"})
    with small_disk(tmp_path, "16m") as disk:
        await play(disk / "home", [say("Hello.")])
        left = os.statvfs(disk)
        with (disk / "ballast").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, left.f_bavail * left.f_frsize - ROOM)
        got = await play(disk / "home", [printing, say("Done.")])
        assert got.outcome is Outcome.COMPLETED
        assert "the whole could not be kept: No space left on device" in got.results[0]
        assert not list(disk.rglob("call_*.txt"))
