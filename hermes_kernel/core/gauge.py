"""How many tokens a transcript is to one model: characters by the kind of their script, times what each kind costs.

Begins with rates that suit most tokenizers and err a little high; every usage that a server tells corrects them, and
anchors the estimate: what was told is exact, only what came since is estimated. Usage that cannot be true is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from hermes_kernel.core.messages import Assistant, Message, Observation, User

_BLANKS = b" \t\r\n"
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + _BLANKS
_ASCII = bytes(range(128))
_ACCENTED = bytes([*range(0xC3, 0xCA), 0xE1])
"""UTF-8 lead bytes of accented Latin letters; 0xE1 begins the Vietnamese ones."""
_ALPHABETS = bytes([*range(0xC3, 0xE0), 0xE1])
_TYPOGRAPHY = b"\xc2\xe2"
_WIDE = bytes([0xE0, *range(0xE3, 0xF5)])
_COMPANY = 3
"""ASCII letters that go with an accented one: words of such a language cost more, not its accents alone."""
_INDENT = b"    "
_RUN = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{40,}")
_UNWORDLY = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_UNWORDLY_SHARE = 0.25
"""Capitals and digits in a run of encoded bytes; paths and long names have fewer."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Characters by what they cost: ASCII ``letters`` and blanks, ``marks`` (digits, punctuation), ``dense`` (long runs
    of base64, hex, digests), ``alphabet`` (words of other alphabets and with accents), ``cjk`` (Han, kana, Hangul,
    Thai, emoji). Whole ``images`` and ``messages``."""

    letters: int = 0
    marks: int = 0
    dense: int = 0
    alphabet: int = 0
    cjk: int = 0
    images: int = 0
    messages: int = 0

    def each(self) -> tuple[int, ...]:
        """The counts in the order of the fields."""
        return self.letters, self.marks, self.dense, self.alphabet, self.cjk, self.images, self.messages

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(mine + theirs for mine, theirs in zip(self.each(), other.each(), strict=True)))

    def __sub__(self, other: Counts) -> Counts:
        """What is here beyond `other`; never less than nothing."""
        return Counts(*(max(mine - theirs, 0) for mine, theirs in zip(self.each(), other.each(), strict=True)))


def counts(text: str) -> Counts:
    """What is in `text`, in time that grows with its length: about 5 µs a kilobyte."""
    data = text.encode("utf-8", "replace")
    runs = [run for run in _RUN.findall(data) if _is_dense(run)]
    dense = sum(map(len, runs))
    if dense:
        data = _RUN.sub(lambda found: b"" if _is_dense(found.group()) else found.group(), data)
    wide = alphabet = typography = company = 0
    letters = len(data) - len(data.translate(None, _LETTERS)) - (len(_INDENT) - 1) * data.count(_INDENT)
    marks = _count(data, _ASCII) - _count(data, _LETTERS)
    if not data.isascii():
        rest = data.translate(None, _ASCII)
        wide, alphabet, typography = (_count(rest, kind) for kind in (_WIDE, _ALPHABETS, _TYPOGRAPHY))
        company = min(letters, _COMPANY * _count(rest, _ACCENTED))
    return Counts(letters - company, marks + typography, dense, alphabet + company, wide)


def weighed(*messages: Message) -> Counts:
    """What goes over the wire of these messages. Thoughts stay here."""
    return sum((_weighed(message) for message in messages), Counts())


@dataclass(frozen=True, slots=True)
class Gauge:
    """What one model makes of text. ``rates`` are tokens for each kind of `Counts`; ``fixed`` is what every call holds
    beside its transcript (system prompt, tools, template), learnt when the transcript was ``lightest`` tokens;
    ``anchor`` and ``told`` are of the last call whose input a server counted."""

    rates: tuple[float, ...] = (0.25, 0.6, 0.75, 0.5, 1.1, 1000.0, 4.0)
    fixed: int = 0
    anchor: Counts = Counts()
    told: int = 0
    lightest: float = 0.0

    def tokens(self, transcript: Counts) -> int:
        """The estimated input of a call with this transcript."""
        gone = self._weight(self.anchor - transcript)
        stays = 1 - gone / self._weight(self.anchor) if gone else 1.0
        base = self.fixed + (self.told - self.fixed) * stays if self.told else self.fixed
        return round(base + self._weight(transcript - self.anchor))

    def learned(self, transcript: Counts, input_tokens: int) -> Gauge:
        """The gauge after a call with this transcript, of which the server says that it had so many tokens."""
        if input_tokens <= 0:
            return self
        return replace(self, anchor=transcript, told=input_tokens)

    def _weight(self, what: Counts) -> float:
        return sum(rate * count for rate, count in zip(self.rates, what.each(), strict=True))


def _weighed(message: Message) -> Counts:
    match message:
        case User(text, images) | Observation(_, _, text, _, images):
            return counts(text) + Counts(images=len(images), messages=1)
        case Assistant(text, calls, _, _):
            said = counts(text) + Counts(messages=1 + len(calls))
            return sum((counts(f"{call.name} {call.arguments}") for call in calls), said)


def _count(data: bytes, kind: bytes) -> int:
    return len(data) - len(data.translate(None, kind))


def _is_dense(run: bytes) -> bool:
    return _count(run, _UNWORDLY) >= _UNWORDLY_SHARE * len(run)
