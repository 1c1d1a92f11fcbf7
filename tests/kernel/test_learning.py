"""A kernel that is killed in the middle of what it learns by itself: the next one finds everything whole, does what is due
once, and every token that was told is in the account. No end waits for a look."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel.core.learnt import Looked
from hermes_kernel.learning.skills.marks import Marks
from hermes_kernel.testing import Request, Server, Step, billed, call, calls, say, stall
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store import Store
from tests.contracts.curated import text
from tests.contracts.looks import Parts, remember, who
from tests.contracts.test_reflecting_skills import SKILL
from tests.kernel.conftest import Kernel

ENTRY = "The person wants prices in EUR."
HANGS = stall("Hm", after=1, seconds=float("inf"))
WORK = [calls([("python", {"code": f"{n} * 2"}) for n in range(6)]), say("Done.")]
PROMPT, REPLY = 1_000, 7
LONG = 20.0
LONG_AGO = 1_600_000_000
VISIT = "run = await hermes.learning.curator.visit()"


def by_who(script: Parts) -> Callable[[Request], Step]:
    """Every whole answer of `script` costs the same."""

    def answer(request: Request) -> Step:
        step = script(request)
        return step if step is HANGS else billed(step, PROMPT, REPLY)

    return answer


def learning(home: Path, server: Server, **settings: Any) -> Kernel:
    """A kernel that learns by itself."""
    kernel = Kernel("hermes", sys.executable, home)
    kernel.run(f"%config HermesMagics.base_url = {server.url!r}")
    for name, value in {"nudge_seconds": 0, "nudge_every_turns": 100, "learning": "on", **settings}.items():
        assert kernel.run(f"%hermes config {name}={value}").status == "ok"
    return kernel


def killed(kernel: Kernel) -> None:
    kernel.manager.signal_kernel(signal.SIGKILL)
    gone(kernel)
    kernel.close()


def gone(kernel: Kernel, seconds: float = LONG) -> None:
    end = time.monotonic() + seconds
    while kernel.manager.is_alive():
        assert time.monotonic() < end, "the kernel is still there"
        time.sleep(0.01)


def looked(kernel: Kernel, loop: str) -> list[Looked]:
    """What `loop` has done in the kernel's home, whoever did it, once there is something."""
    end = time.monotonic() + LONG
    store = Store(kernel.home)
    try:
        while True:
            facts: list[Any] = [each.fact for each in Chronicle(store, lambda: "none").read(Looked)]
            if found := [fact for fact in facts if fact.loop == loop]:
                return found
            assert time.monotonic() < end, f"no {loop}"
            time.sleep(0.02)
    finally:
        store.close()


def spent(kernel: Kernel, kind: str) -> int:
    return int(kernel.value(f"sum(row.usage.input_tokens for row in hermes.store.usage() if row.name == {kind!r})"))


@pytest.mark.parametrize("loop", ["nudge", "review"])
def test_a_look_in_a_killed_kernel_is_taken_once_by_the_next_and_all_is_whole(tmp_path: Path, loop: str) -> None:
    writes = remember(ENTRY) if loop == "nudge" else call("skill_manage", SKILL)
    steps = {loop: [writes, HANGS, say("It is there.")]}
    settings = {"nudge_every_turns": 1} if loop == "nudge" else {}
    with Server(by_who(Parts(chat=WORK, **steps))) as server:
        kernel = learning(tmp_path, server, **settings)
        assert kernel.run("Double them.").status == "ok"
        assert server.await_requests(len(WORK) + 2, LONG)
        killed(kernel)
        kernel = learning(tmp_path, server)
        try:
            assert kernel.run("Hello.").status == "ok"
            (once,) = looked(kernel, loop)
            assert (once.seen, once.outcome, once.wrote) == (1, "completed", ())
            if loop == "nudge":
                assert kernel.value("hermes.learning.memory.entries('memory')") == repr((ENTRY,))
            else:
                assert kernel.value(f"hermes.learning.skills.get({SKILL['name']!r}).offered") == "True"
            assert [who(request) for request in server.requests].count(loop) == 3
            assert spent(kernel, loop) == 2 * PROMPT
            assert spent(kernel, "chat") == 3 * PROMPT
        finally:
            kernel.close()


def test_a_curator_in_a_killed_kernel_leaves_every_skill_whole_and_the_next_runs_once(tmp_path: Path) -> None:
    written = {}
    for name in ("plot", "clean"):
        file = tmp_path / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(text(name))
        os.utime(file, (LONG_AGO, LONG_AGO))
        Marks(tmp_path / "skills").change(name, origin="agent")
        written[name] = file.read_bytes()
    used = {"view_count": 2, "last_viewed_at": LONG_AGO, "created_by": "agent"}
    (tmp_path / "skills/.usage.json").write_text(json.dumps(dict.fromkeys(written, used)))
    (tmp_path / "curator").mkdir()
    (tmp_path / "curator/clock.json").write_text(json.dumps({"last": LONG_AGO}))
    keep = say(json.dumps({"verdict": "keep", "reason": "It is fine."}))
    with Server(by_who(Parts(chat=[keep, HANGS, keep]))) as server:
        kernel = learning(tmp_path, server, curator_idle_hours=0)
        kernel.send(kernel.python(VISIT))
        assert server.await_requests(2, LONG)
        killed(kernel)
        assert {name: (tmp_path / "skills" / name / "SKILL.md").read_bytes() for name in written} == written
        kernel = learning(tmp_path, server, curator_idle_hours=0)
        try:
            assert "it is under way, or its process has ended" in kernel.run("%hermes curator").text
            assert kernel.run(kernel.python(VISIT), timeout=60).status == "ok"
            assert kernel.value("(run.by, run.status)") == "('curator', 'done')"
            assert kernel.run(kernel.python(VISIT)).status == "ok"
            assert kernel.value("run") == "None"
            assert kernel.value("[run.status for run in hermes.learning.curator.runs()]") == "['interrupted', 'done']"
            assert spent(kernel, "curator") == (len(server.requests) - 1) * PROMPT
        finally:
            kernel.close()


def test_no_end_waits_for_a_memory_that_another_process_does_not_let_go_of(tmp_path: Path) -> None:
    with Server(Parts(nudge=[remember(ENTRY), say("Kept.")])) as server:
        kernel = learning(tmp_path, server, nudge_every_turns=1)
        (tmp_path / "memories").mkdir(exist_ok=True)
        with (tmp_path / "memories/MEMORY.md.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert kernel.run("Hello.").status == "ok"
            assert server.await_requests(2, LONG)
            assert kernel.run("Hello again.").status == "ok"
            kernel.client.shutdown()
            gone(kernel, 15)
            kernel.close()
    assert not (tmp_path / "memories/MEMORY.md").exists()
