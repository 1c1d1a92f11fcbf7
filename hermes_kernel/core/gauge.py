"""How many tokens a transcript is to one model: characters by the kind of their script, times what each kind costs.

Begins with rates that suit most tokenizers and err a little high. Every usage that a server tells corrects them and
anchors the estimate: what was told is exact, only what came since is guessed. Usage that cannot be true is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import mul

from hermes_kernel.core.messages import Assistant, Message, Observation, User

RATES = (0.22, 0.6, 0.75, 0.5, 1.1, 1000.0, 4.0)
"""Tokens for one of each kind of `Counts`, as cl100k, o200k, DeepSeek's and Anthropic's tokenizers have it, or more."""

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz \t\r\n"
# What follows is told from the first byte of a character in UTF-8.
_NO_LEADS = bytes(range(0xC0))
_ACCENTED = bytes([*range(0xC3, 0xCA), 0xE1])
_ALPHABETS = bytes([*range(0xC3, 0xE0), 0xE1])
_TYPOGRAPHY = b"\xc2\xe2"
_WIDE = bytes([0xE0, *range(0xE3, 0xF5)])
_COMPANY = 3
"""ASCII letters that go with an accented one: in such a language all words cost more, not the accents alone."""
_INDENT = b"    "
"""Costs no more than a single blank."""

_DENSE = 40
_CODED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_UNWORDLY = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_UNWORDLY_SHARE = 0.25
"""Capitals and digits in a run of base64 or hex; paths and long names have fewer."""
_RUNS = bytes(ord("x") if byte in _CODED else ord(" ") for byte in range(256))

_BOUND = 4.0
"""How far a rate goes from where it began, and how many times the estimate usage can be, or part of it, to be true."""
_CHEAPEST = 0.45
"""Text that costs a smaller share of its estimate was cut; pictures alone vary more."""
_SLACK = 64
_BESIDE = 100_000
"""Tokens that a call may hold beside its transcript, and may come to hold between two calls: tools, mostly."""
_SURE = 0.7
_FEW, _STEP = 3, 1.6
"""After a few lessons one more moves a rate no further than this: it may be tools that have come."""
_NOISE = 40
"""Tokens by which a few lines differ from the average of their kind: little is learnt from less."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Characters by what they cost: ASCII ``letters`` and blanks; ``marks``: digits, punctuation; ``dense``: long runs
    of base64, hex and the like; ``alphabet``: other alphabets, words with accents; ``cjk``: Han, kana, Hangul, Indic,
    Thai, emoji. Whole ``images`` and ``messages``."""

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

    # written out, for it is done several times a message, and generators take four times as long

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.letters + other.letters,
            self.marks + other.marks,
            self.dense + other.dense,
            self.alphabet + other.alphabet,
            self.cjk + other.cjk,
            self.images + other.images,
            self.messages + other.messages,
        )

    def __sub__(self, other: Counts) -> Counts:
        """What is here beyond `other`, never less than nothing."""
        return Counts(
            max(self.letters - other.letters, 0),
            max(self.marks - other.marks, 0),
            max(self.dense - other.dense, 0),
            max(self.alphabet - other.alphabet, 0),
            max(self.cjk - other.cjk, 0),
            max(self.images - other.images, 0),
            max(self.messages - other.messages, 0),
        )


def counts(text: str) -> Counts:
    """What `text` is made of. Takes a few microseconds a kilobyte."""
    data = text.encode("utf-8", "replace")
    runs = b"".join(_dense_runs(data))
    written, in_runs = _count(data, _LETTERS), _count(runs, _LETTERS)
    letters = written - in_runs - (len(_INDENT) - 1) * data.count(_INDENT)
    leads = b"" if len(data) == len(text) else data.translate(None, _NO_LEADS)
    marks = len(text) - len(leads) - written - (len(runs) - in_runs) + _count(leads, _TYPOGRAPHY)
    company = min(letters, _COMPANY * _count(leads, _ACCENTED))
    alphabet = _count(leads, _ALPHABETS) + company
    return Counts(letters - company, marks, len(runs), alphabet, _count(leads, _WIDE))


def weighed(*messages: Message) -> Counts:
    """What goes over the wire of `messages`. Thoughts stay here."""
    return sum((_weighed(message) for message in messages), Counts())


@dataclass(frozen=True, slots=True)
class Gauge:
    """What one model makes of text. ``rates`` are the tokens for one of each kind of `Counts`; ``fixed`` the tokens
    that every call holds beside its transcript (system prompt, tools, template), learnt best when that was
    ``lightest``; ``anchor`` and ``told`` are of the last of ``lessons``, the calls whose input the server counted."""

    rates: tuple[float, ...] = RATES
    fixed: float = 0.0
    lightest: float = 0.0
    anchor: Counts = Counts()
    told: int = 0
    lessons: int = 0

    def tokens(self, transcript: Counts) -> int:
        """The input of a call with this transcript, estimated."""
        return math.ceil(self._staying(transcript) + self.weight(transcript - self.anchor))

    def weight(self, what: Counts) -> float:
        """The tokens of `what`, wherever it stands."""
        tokens: float = sum(map(mul, self.rates, what.each()))
        return tokens

    def learned(self, transcript: Counts, input_tokens: int) -> Gauge:
        """The gauge after a call with this transcript for which the server counted so many tokens. The same one if it
        cannot have: it cut the prompt, or counts only what was not cached."""
        if not self._can_be(transcript, input_tokens):
            return self
        new, grown = transcript - self.anchor, input_tokens - self._staying(transcript)
        certain = self.told > 0 or input_tokens < self.weight(transcript)
        known = replace(self, rates=self._corrected(new, grown)) if certain else self
        weight = known.weight(transcript)
        share = min(self.lightest / weight, 1.0) if self.told and weight else 1.0
        fixed = self.fixed + share * (max(input_tokens - weight, 0) - self.fixed)
        lightest = min(self.lightest, weight) if self.told else weight
        return Gauge(
            known.rates, min(fixed, input_tokens), lightest, transcript, input_tokens, lessons=self.lessons + 1
        )

    def _staying(self, transcript: Counts) -> float:
        """The tokens of the last counted call that are in this one too."""
        before, gone = self.told or self.fixed, self.weight(self.anchor - transcript)
        return before - (before - self.fixed) * gone / self.weight(self.anchor) if gone else before

    def _can_be(self, transcript: Counts, told: int) -> bool:
        """Whether that many tokens are what was sent. Less than before is, where it is still enough for the text: there
        are fewer tools now."""
        base, new, whole = self._staying(transcript), self.weight(transcript - self.anchor), self.weight(transcript)
        if not 0 < told <= base + _BOUND * new + _BESIDE:
            return False
        enough = whole / _BOUND if not self.told else _SURE * whole
        return told >= enough or (self.told > 0 and told >= base + new / _BOUND - _SLACK)

    def _corrected(self, new: Counts, told: float) -> tuple[float, ...]:
        """The rates, each moved by its part in the difference between `told` and the estimate of `new`."""
        parts = [rate * count for rate, count in zip(self.rates, new.each(), strict=True)]
        expected = sum(parts)
        least = 1 / _BOUND if new.images else _CHEAPEST
        if not expected * least <= told <= expected * _BOUND or not expected:
            return self.rates
        step = _BOUND if self.lessons < _FEW else _STEP
        told = min(max(told, expected / step), expected * step)
        trust = expected / (expected + _NOISE)
        move = trust * (told - expected) / sum(part * part for part in parts)
        moved = (rate * (1 + move * part) for rate, part in zip(self.rates, parts, strict=True))
        return tuple(min(max(r, prior / _BOUND), prior * _BOUND) for r, prior in zip(moved, RATES, strict=True))


def _weighed(message: Message) -> Counts:
    match message:
        case User(text, images) | Observation(_, _, text, _, images):
            return counts(text) + Counts(images=len(images), messages=1)
        case Assistant(text, calls, _, _):
            said = counts(text) + Counts(messages=1 + len(calls))
            return sum((counts(f"{call.name} {call.arguments}") for call in calls), said)


def _dense_runs(data: bytes) -> Iterator[bytes]:
    """The long runs in `data` that are no words. Text without any is seen through at once."""
    plan, long = data.translate(_RUNS), b"x" * _DENSE
    at = plan.find(long)
    while at >= 0:
        end = plan.find(b" ", at)
        run = data[at : end if end > 0 else len(data)]
        if _count(run, _UNWORDLY) >= _UNWORDLY_SHARE * len(run):
            yield run
        at = plan.find(long, at + len(run))


def _count(data: bytes, kind: bytes) -> int:
    return len(data) - len(data.translate(None, kind))
