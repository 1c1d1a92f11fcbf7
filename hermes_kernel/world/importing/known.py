"""What a store has of a session already: which facts of an import, which of its turns stand, and whether anybody went
on with it here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from hermes_kernel.core.messages import Usage
from hermes_kernel.world.store.taking import Trace

MARK = "import-"
ASIDE = ("Titled", "Started", "Undone")  # facts after which a turn is neither over nor going on


@dataclass(frozen=True, slots=True)
class Known:
    """``standing`` are the uids of the prompts of turns that stand, ``over`` says that the last of them has ended.
    ``titles`` and ``spent`` are of the import alone; ``ours`` means somebody asked or took back something here."""

    uids: frozenset[str] = frozenset()
    next: int = 0
    t: float = 0.0
    standing: tuple[str, ...] = ()
    over: bool = False
    titles: tuple[str, ...] = ()
    spent: Usage = Usage()
    ours: bool = False


def uid(session: str, key: str) -> str:
    """The uid of a fact of an import: the same each time, in every home."""
    return MARK + hashlib.blake2b(f"{session}\n{key}".encode("utf-8", "replace"), digest_size=15).hexdigest()


def known(traces: Iterable[Trace]) -> Known:
    """What these facts of one session, in order, come to."""
    facts = list({trace.uid: trace for trace in traces}.values())
    if not facts:
        return Known()
    imported = [trace for trace in facts if trace.uid.startswith(MARK)]
    last = [trace.kind for trace in facts if trace.kind not in ASIDE]
    return Known(
        frozenset(trace.uid for trace in facts),
        facts[-1].n + 1,
        facts[-1].t,
        _standing(facts),
        last[-1:] in (["Final"], ["Compressed"]),
        tuple(trace.detail or "" for trace in imported if trace.kind == "Titled"),
        sum((_usage(trace) for trace in imported if trace.kind == "Replied"), Usage()),
        any(trace.kind != "Titled" and not trace.uid.startswith(MARK) for trace in facts),
    )


def _standing(facts: Iterable[Trace]) -> tuple[str, ...]:
    turns: list[str] = []
    for trace in facts:
        if trace.kind == "Asked":
            turns.append(trace.uid)
        elif trace.kind == "Undone":
            del turns[max(len(turns) - int(trace.detail or 1), 0) :]
    return tuple(turns)


def _usage(trace: Trace) -> Usage:
    told = json.loads(trace.detail) if trace.detail else {}
    return Usage(
        input_tokens=told.get("input_tokens", 0),
        output_tokens=told.get("output_tokens", 0),
        cached_tokens=told.get("cached_tokens", 0),
        reasoning_tokens=told.get("reasoning_tokens", 0),
        cost=told.get("cost", 0.0),
    )
