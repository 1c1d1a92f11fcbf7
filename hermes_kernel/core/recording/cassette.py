"""What a cassette holds, as values: exchanges with a server, calls of tools, and with what settings they were had."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any

from hermes_kernel.core.messages import Image
from hermes_kernel.core.trouble import Cause

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Head:
    """With what it was recorded. ``settings`` are those that decide who is asked and how much fits: ``model``,
    ``base_url``, ``fallback_models``, ``aux_model``, ``context_window`` (what was found, where none was set)."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    format: int = FORMAT


def in_each(value: Any, change: Callable[[str], str]) -> Any:
    """A setting of a head, changed in each of its texts."""
    match value:
        case str():
            return change(value)
        case tuple():
            return tuple(map(change, value))
    return value


@dataclass(frozen=True, slots=True)
class Request:
    """What of a request counts: its messages but for the system prompt, in a normal form, and whether tools were
    offered. Where and when, by whom and with how much room it was asked does not. ``after`` is a request with whose
    messages, the very ones, these begin; then only the new ones are looked at for ``digest``."""

    messages: tuple[Mapping[str, Any], ...]
    tools: bool = False
    after: InitVar[Request | None] = None
    digest: str = field(init=False, compare=False, repr=False)

    def __post_init__(self, after: Request | None) -> None:
        begun, known = (after.digest, len(after.messages)) if after else ("", 0)
        *_, digest = begun, *digests(self.messages[known:], begun)
        object.__setattr__(self, "digest", digest)

    @property
    def key(self) -> str:
        """The same for the same request, on any machine: 16 hexadecimal digits."""
        return _sha(f"{self.digest} {self.tools}")[:16]


def digests(messages: Iterable[Mapping[str, Any]], digest: str = "") -> Iterator[str]:
    """After each message, what stands for it and all before it. ``digest`` stands for those that came earlier."""
    for message in messages:
        digest = _sha(digest + json.dumps(message, sort_keys=True))
        yield digest


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes as they came, ``gap`` seconds after those before them (the first: after the request went out)."""

    data: bytes
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and all that came of it. ``status`` 0: no answer began. ``cause`` is `Cause.ANSWER` where the body came
    to its end, else why it did not, said in ``message`` after ``gap`` more seconds."""

    request: Request
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    cause: Cause = Cause.ANSWER
    message: str = ""
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool and its result. Found by ``name`` and ``arguments`` (in a normal form), and among those of the
    same words by its ``id``. One that ``lent`` calls of the budget had subagents, whose requests and calls are recorded
    too."""

    name: str
    arguments: str
    text: str
    ok: bool = True
    images: tuple[Image, ...] = ()
    id: str = ""
    lent: bool = False


@dataclass(frozen=True, slots=True)
class Cassette:
    """Everything recorded in one file, in the order of the file. ``torn``: it ends within a line or an exchange, of
    which nothing is in here."""

    head: Head = Head()
    exchanges: tuple[Exchange, ...] = ()
    calls: tuple[Called, ...] = ()
    torn: bool = False
