"""What a search gives: values, in the order a person reads them. Knows no index and no face."""

from __future__ import annotations

from dataclasses import dataclass

ROLES = ("user", "assistant", "tool", "title")


@dataclass(frozen=True, slots=True)
class Passage:
    """One message as it is found and read: a prompt, a reply, a tool's result or a title. ``n`` is its place among the
    facts of its session, ``t`` seconds since 1970-01-01 UTC, ``role`` one of `ROLES`, ``tool`` the name of the tool of
    a result. A reply's text is followed by the tools it calls and their arguments."""

    session: str
    n: int
    t: float
    role: str
    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Snippet:
    """An excerpt in pieces; those that match are marked. Joined, it is one line of the message's own text."""

    pieces: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The excerpt without its marks."""
        return "".join(text for text, _ in self.pieces)


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that matches. A higher ``score`` (BM25) is a better match."""

    passage: Passage
    score: float
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class Thread:
    """The hits in one conversation and whatever was branched or compressed from it: ``root`` is the session it all
    began with, ``title``, ``notebook`` and ``model`` are of the session of the best hit. Best hit first."""

    root: str
    title: str
    notebook: str
    model: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """``total`` messages match, in the best ``threads``. ``partly`` means that none has every word, so these have the
    most of them. ``note`` says in one line what could not be searched, and is empty when all was."""

    threads: tuple[Thread, ...]
    total: int
    partly: bool = False
    note: str = ""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All hits shown, thread by thread."""
        return tuple(hit for thread in self.threads for hit in thread.hits)
