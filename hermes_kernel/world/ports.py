"""What a turn needs of the world, as protocols. Every adapter and every fake keeps the same contract tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from hermes_kernel.core.commands import CallModel, Compress
from hermes_kernel.core.events import Compressed, Event, Kept, Spent
from hermes_kernel.core.learnt import LEARNT, Dated
from hermes_kernel.core.messages import ToolCall, ToolSpec, Transcript
from hermes_kernel.core.question import Question
from hermes_kernel.core.search.found import Found, Passage
from hermes_kernel.core.search.query import Query
from hermes_kernel.core.turn import Turn
from hermes_kernel.world.stop import Stop


class Model(Protocol):
    """An endpoint (and its fallbacks) that answers."""

    def reply(self, call: CallModel, tools: Sequence[ToolSpec], stop: Stop) -> AsyncGenerator[Event, None]:
        """Passing events as they come, and `WindowFound` where the window is another than ``call.window``; then exactly
        one of `Replied`, `Failed` or `Interrupted`. Never raises for anything a server, a network or a model can do."""
        ...


class Toolbox(Protocol):
    """The tools of one session."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is offered at this moment; the latest definition of a name wins."""
        ...

    def lends(self, call: ToolCall) -> bool:
        """Whether `call` is for a tool that lends of the turn's budget to subagents, and does nothing else."""
        ...

    def run(self, calls: Sequence[ToolCall], stop: Stop) -> AsyncGenerator[Event, None]:
        """`Started` before each begins and `Observed` as each ends, in order of arrival, with `Asking` and `Approved`
        between where a person or a rule is asked; when stopped, `Interrupted` ends it within 0.2 s and calls without a
        result are left for the turn to close. Never raises for anything a tool can do."""
        ...


class Compressor(Protocol):
    """Makes the older part of a conversation shorter. One for a session: what it has begun outlives the turn."""

    def begin(self, asked: Compress) -> None:
        """Begin a summary and return at once. One that is being made of this conversation already goes on."""
        ...

    def ready(self, transcript: Transcript) -> Compressed | Spent | None:
        """The summary that was begun, put in its place in what `transcript` has grown to; or what one that cannot be
        used has cost; each once. None while it is being made, and when there is none."""
        ...

    async def settle(self, stop: Stop) -> None:
        """Return when what was begun is made, or `stop` is pressed."""
        ...

    def compress(self, asked: Compress, stop: Stop) -> AsyncGenerator[Event, None]:
        """`Noticed` as it goes on, then one `Compressed`, which is no smaller where nothing could be gained; or
        `Interrupted`. A summary that cannot be had is replaced by a digest of the facts, unless a person asked for it.
        Never raises for anything a model can do."""
        ...


class Log(Protocol):
    """The durable record of sessions."""

    def append(self, session_id: str, *events: Kept) -> None:
        """On disk when it returns. Several are as dear as one: a disk is waited for once. What the last append of the
        session began with, the same objects, is not written anew: so whoever was interrupted may give it again.

        Raises:
            StoreError: the disk is full or the home is read-only; nothing was written, earlier facts stand.
        """
        ...

    def recall(self, session_id: str) -> list[Kept]:
        """Every kept fact of a session in order.

        Raises:
            KeyError: there is no such session.
        """
        ...


class Claim(Protocol):
    """Being the one process that acts in a session."""

    def close(self) -> None:
        """Let others have it."""
        ...


class Finder(Protocol):
    """Everything that was ever said in a home (or a team), to be searched and read."""

    def search(self, query: str | Query, limit: int = 10) -> Found:
        """The best `limit` threads. A message is found from the moment its `Log.append` returned; one that was undone
        or deleted is not found.

        Raises:
            QueryError: a filter has a value that it cannot have.
            StoreError: the store cannot be read; one line says why and what to do.
        """
        ...

    def passages(self, session_id: str) -> tuple[Passage, ...]:
        """The messages of a session that stand, in order.

        Raises:
            KeyError: there is no such session; the text names the closest ids.
        """
        ...

    def find(self, text: str) -> str:
        """The id of the one session that `text` names: its id, the beginning of it (4 characters or more), its exact
        title, or ``last``.

        Raises:
            KeyError: none is named so, or several are; the text names those that come close.
        """
        ...


class Archive(Log, Finder, Protocol):
    """A log of many sessions, shared with other processes, to be searched and read."""

    @property
    def waiting(self) -> str:
        """One line while facts wait in this home for a store that it shares and that is away; else nothing."""
        ...

    def latest(self, notebook: str | None = None) -> str | None:
        """The id of the conversation last active, in one notebook or in any: never of a subagent or of a row of a
        map, but of what they worked for; of a run of a job only under the run's id in place of a notebook."""
        ...

    def learnt(self, kinds: Collection[type] = LEARNT, since: float = 0) -> tuple[Dated, ...]:
        """The facts of these kinds (of `core.learnt` and `core.planned`) at or after `since` (seconds since 1970-01-01
        UTC), in the order of time, whichever process wrote them.

        Raises:
            StoreError: the store cannot be read; one line says why and what to do.
        """
        ...

    def claim(self, session_id: str) -> Claim:
        """Be the one process in this session until `Claim.close`, or until the process ends in whatever way.

        Raises:
            InUse: another process is in it; the text names it.
            StoreError: it cannot be had for another reason.
        """
        ...

    def check(self, session_id: str) -> None:
        """Whoever claimed it is still the one, as far as was known when the store was last read or written.

        Raises:
            InUse: the claim was lost, with the way to a store that homes share, and another process took it.
        """
        ...

    def fold_apart(self) -> None:
        """Have what was appended brought into the shared database, soon, by somebody else. Returns at once."""
        ...

    def close(self) -> None:
        """Nothing will be appended any more."""
        ...


class Knowledge(Protocol):
    """What earlier sessions left for the next one."""

    def block(self) -> str:
        """What the system prompt of a session that begins now says of it; nothing where there is none."""
        ...


class Beside(Protocol):
    """What goes on beside a conversation and never in its way: the slow loops, which learn from it."""

    def during(self, latest: Callable[[], Turn]) -> AbstractContextManager[object]:
        """While a turn is played; `latest` is the turn, and at the end what there is to learn from."""
        ...

    def note(self, turn: Turn) -> str:
        """What has changed since the system prompt of this conversation was written, or since it was asked last: for
        the next prompt. Mostly nothing."""
        ...

    def owed(self) -> tuple[Spent, ...]:
        """What has been spent on this conversation since it was asked last."""
        ...

    def moves(self, session: str) -> None:
        """The conversation is about to go on in another session than `session`: it was compressed."""
        ...

    def leave(self) -> None:
        """Another conversation is about to begin."""
        ...


class Clock(Protocol):
    """Time and chance."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        ...

    def elapsed(self) -> float:
        """Seconds of a clock that never jumps."""
        ...

    def chance(self) -> float:
        """A number from 0 up to, not including, 1."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let others run for so long."""
        ...


class Person(Protocol):
    """Whoever sits at the notebook, or nobody."""

    @property
    def present(self) -> bool:
        """False in a headless run: then nothing may wait for an answer."""
        ...

    async def ask(self, question: Question) -> str | None:
        """The answer in the person's words or one of the choices; None when nobody will answer. Whoever asks looks at
        the clock, and cancels it: the question disappears and no later prompt is disturbed. The event loop keeps
        running while it waits."""
        ...
