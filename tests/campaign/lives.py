"""Lives of agents in processes of their own: one that is killed at some moment, and one that finds what it left.

Both play the turns of `sessions`; whatever the first was told is on disk it notes in a file, before it goes on.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401 - the nursery imports it once for all children
import openai  # noqa: F401

from hermes_kernel import HermesError
from hermes_kernel.core import prompts
from hermes_kernel.core.events import Compressed, Kept, Observed, Opened, Replied, Started, Undone
from hermes_kernel.core.messages import Observation, ToolCall
from hermes_kernel.core.plain import dump
from hermes_kernel.core.turn import Turn, decide, recall
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.recording.player import Player
from hermes_kernel.world.store import Store
from tests.campaign import laws
from tests.campaign.sessions import Play, Tale
from tests.kill.acks import Acknowledged, noted
from tests.kill.dying import die_at

Life = list[dict[str, Any]]
"""The facts that one process was told are on disk, of one session, in their order."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A server in another process: only its address is known here."""

    url: str
    requests: tuple[Any, ...] = ()
    connected: int = 0

    def await_idle(self) -> bool:
        """Nobody can say."""
        return True


class Killed(Play):
    """Plays until it is killed. ``deal`` says what it does beside the turns, and how it dies if nobody kills it."""

    def __init__(self, root: Path, url: str, deal: dict[str, Any], dice: random.Random) -> None:
        self._deal = deal
        self._acks = root / deal["acks"]
        super().__init__(Tale(""), root, Elsewhere(url), None, dice)  # type: ignore[arg-type]

    def made(self, session: str | None = None) -> Any:
        """With what is dealt."""
        self.chosen |= self._deal["settings"]
        return super().made(session)

    def log(self) -> Archive:
        """One that notes what it was told."""
        store, deal = super().log(), self._deal
        last = deal["last"] or sys.maxsize
        return Acknowledged(store, self._acks, last, before=deal["before"])  # type: ignore[return-value, arg-type]


def killed(root: str, url: str, seed: str, deal: dict[str, Any]) -> None:
    """A life that is to be cut off."""
    with _telling(Path(root), deal["acks"]):
        os.chdir(Path(root) / "work")
        dice = random.Random(seed)
        if deal["touch"]:
            die_at(deal["touch"])
        asyncio.run(_lived(Killed(Path(root), url, deal, dice), deal))


async def _lived(play: Killed, deal: dict[str, Any]) -> None:
    if session := deal["session"]:
        await _taken_up(play, session)
    for _ in range(deal["turns"]):
        await play.turn()
        if deal["folds"]:
            with closing(Store(play.home)) as store:
                store.fold()
        if play.dice.random() < 0.5:
            await play.move()
    await play.leave()


async def _taken_up(play: Killed, session: str) -> None:
    try:
        play.agent.resume(session)
    except HermesError:
        return  # it was never written
    await play.agent.finish()
    laws.messages(play.agent.turn)


def found(root: str, url: str, seed: str, deal: dict[str, Any]) -> None:
    """The life after: everything that was told is there, and it goes on."""
    with _telling(Path(root), "found"):
        os.chdir(Path(root) / "work")
        asyncio.run(_found(Path(root), url, seed, deal))


async def _found(root: Path, url: str, seed: str, deal: dict[str, Any]) -> None:
    home, told = root / "home", acknowledged(root)
    with closing(Store(home)) as store:
        before = _looked(store, told)
        marked(before.values(), root / "marks")
    deal = {**deal, "acks": "acks-found", "last": 0, "touch": 0}
    play = Killed(root, url, deal, random.Random(f"{seed}/found"))
    for session in [*dict.fromkeys(told)][-3:]:
        facts = before[session]
        try:
            turn = play.agent.resume(session)
        except HermesError as error:
            assert "subagent" in str(error), f"{session[:8]} cannot be gone on with: {error}"
            continue
        lost = _open(facts) if turn.session_id == session else []
        turn = await play.agent.finish()
        laws.messages(turn)
        assert decide(turn) is None
        _unknown(turn, lost, play.agent.store.recall(session))
        await play.turn()
    await play.leave()
    with closing(Store(home)) as store:
        again = {session: store.recall(session) for session in told}
        store.fold()
        assert {session: store.recall(session) for session in told} == again, "folding changes what is read"
        marked(_looked(store, acknowledged(root)).values(), root / "marks")
    laws.private(home)
    tape = Path(deal["settings"].get("record", ""))
    assert not tape.is_file() or Player(tape).cassette.exchanges


def acknowledged(root: Path) -> dict[str, list[Life]]:
    """By session what each life was told is on disk."""
    told: dict[str, list[Life]] = {}
    for acks in sorted(root.glob("acks-*")):
        life: dict[str, Life] = {}
        for session, fact in noted(acks):
            life.setdefault(session, []).append(fact)
        for session, facts in life.items():
            told.setdefault(session, []).append(facts)
    return told


def _looked(store: Store, told: dict[str, list[Life]]) -> dict[str, list[Kept]]:
    """Every session as it is read; nothing told is lost or out of order, nothing is there twice."""
    there: dict[str, list[Kept]] = {}
    for session, notes in told.items():
        uids = Counter(record.uid for record in store.records(session))
        assert set(uids.values()) == {1}, f"facts of {session[:8]} are there twice"
        there[session] = facts = store.recall(session)
        plain = [dump(fact) for fact in facts]
        for life in notes:  # each in its own order: which of two processes was first in a session is not known
            written = iter(plain)
            missing = [note for note in life if note not in written]
            assert not missing, (
                f"{len(missing)} facts of {session[:8]} are lost or out of order, first {missing[0]!r:.300}"
            )
        assert sum(isinstance(fact, Opened) for fact in facts) == 1
        asked = Counter(call.id for fact in facts if isinstance(fact, Replied) for call in fact.calls)
        results = Counter(fact.call_id for fact in facts if isinstance(fact, Observed))
        assert results <= asked, f"results twice or without a call: {results - asked}"
    return there


def _open(facts: list[Kept]) -> list[str]:
    """The calls that had begun, and of which it is not known how they ended."""
    turn = recall(facts)
    return [call.id for call in turn.open if call.id in turn.begun] if decide(turn) is not None else []


def _unknown(turn: Turn, lost: list[str], facts: list[Kept]) -> None:
    """They say so."""
    compressed = any(isinstance(fact, Compressed | Undone) for fact in facts)
    said = {m.call_id: m.text for m in turn.transcript if isinstance(m, Observation)}
    results = [fact.call_id for fact in facts if isinstance(fact, Observed) and fact.text == prompts.LOST]
    for call in lost:
        assert call in results, f"nothing is known of {call}, and it does not say so"
        assert compressed or said.get(call) == prompts.LOST, f"{call} says {said.get(call)!r:.200}"


def marked(sessions: Iterator[list[Kept]] | Any, marks: Path) -> None:
    """No tool ran twice, and none before it was on disk that it would."""
    begun: Counter[str] = Counter()
    for facts in sessions:
        calls = {call.id: call for fact in facts if isinstance(fact, Replied) for call in fact.calls}
        begun.update(_mark(calls[fact.call_id]) for fact in facts if isinstance(fact, Started))
    made = Counter(marks.read_text("utf-8", "replace").splitlines()) if marks.exists() else Counter[str]()
    assert made <= begun, f"tools ran that were not told of, or twice: {made - begun}"


def _mark(call: ToolCall) -> str:
    try:
        return str(json.loads(call.arguments).get("name", ""))
    except ValueError:
        return ""


class _telling:  # noqa: N801 - reads as what it does
    """What goes wrong is written into a file, for the process that looks."""

    def __init__(self, root: Path, name: str) -> None:
        self._file = root / f"failure-{name}"

    def __enter__(self) -> None:
        """The nursery's own words are not to be mixed with what is printed here."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        if error is not None:
            self._file.write_text("".join(traceback.format_exception(error, limit=-6)))
            os._exit(1)
