"""What a model that was asked about a skill, or about two that are alike, may answer: one JSON object of a strict form.

Whatever does not fit is refused with a sentence that says what would; nothing of it is done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief

REASON = 300  # characters
TEXT = 20_000  # characters of what a patch takes out or puts in
FENCED = re.compile(r"```(?:json)?[ \t]*\n(?P<object>\{.*?\})[ \t]*\n```", re.DOTALL)
KEYS = {
    "keep": frozenset({"verdict", "reason"}),
    "archive": frozenset({"verdict", "skill", "reason"}),
    "patch": frozenset({"verdict", "skill", "old", "new", "reason"}),
    "consolidate": frozenset({"verdict", "keep", "archive", "old", "new", "reason"}),
}
"""The verdicts, and all that each must say; ``old`` and ``new`` of a consolidation may be left out together."""


class Refused(ValueError):
    """The answer is none. The text says what would be one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``what`` is ``keep``, ``patch``, ``consolidate`` or ``archive``; ``skill`` the one it is about (of a
    consolidation: the one that stays, ``other`` the one that goes); ``old`` is replaced by ``new`` in its SKILL.md."""

    what: str
    skill: str = ""
    reason: str = ""
    other: str = ""
    old: str = ""
    new: str = ""


def verdict(answer: str, names: Collection[str]) -> Verdict:
    """The verdict that `answer` gives on the skills called `names`: one or two.

    Raises:
        Refused: it gives none, or one on something else.
    """
    said = _object(answer)
    what = said.get("verdict")
    if not isinstance(what, str) or what not in KEYS:
        raise Refused(f'"verdict" must be one of {", ".join(KEYS)}')
    _check_form(what, said)
    reason = brief(clean(said["reason"]), REASON)
    if not reason:
        raise Refused('"reason" must be a sentence')
    match what:
        case "keep":
            return Verdict(what, "", reason)
        case "consolidate":
            return _consolidation(said, names, reason)
        case _:
            return _of_one(what, said, names, reason)


def _object(answer: str) -> dict[str, Any]:
    fenced = FENCED.findall(answer)
    text = fenced[-1] if fenced else answer[answer.find("{") : answer.rfind("}") + 1]
    try:
        said: dict[str, Any] = json.loads(text, object_pairs_hook=_once)  # it begins with a brace, or is nothing
    except (ValueError, RecursionError):
        raise Refused("the answer must be one JSON object and nothing else") from None
    return said


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says a thing twice says nothing."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _check_form(what: str, said: dict[str, Any]) -> None:
    wanted = KEYS[what]
    spare = frozenset({"old", "new"}) if what == "consolidate" and not said.keys() & {"old", "new"} else frozenset()
    if said.keys() != wanted - spare:
        raise Refused(f"{what!r} must have exactly these keys: {', '.join(sorted(wanted))}")
    if not all(isinstance(value, str) and len(value) <= TEXT for value in said.values()):
        raise Refused(f"every value must be a text of at most {TEXT:,} characters")


def _of_one(what: str, said: dict[str, str], names: Collection[str], reason: str) -> Verdict:
    skill = _named(said["skill"], names)
    if what == "archive":
        return Verdict(what, skill, reason)
    _check_change(said["old"], said["new"])
    return Verdict(what, skill, reason, "", said["old"], said["new"])


def _consolidation(said: dict[str, str], names: Collection[str], reason: str) -> Verdict:
    kept, gone = _named(said["keep"], names), _named(said["archive"], names)
    if kept == gone:
        raise Refused('"keep" and "archive" must be two skills')
    if "old" in said:
        _check_change(said["old"], said["new"])
    return Verdict("consolidate", kept, reason, gone, said.get("old", ""), said.get("new", ""))


def _check_change(old: str, new: str) -> None:
    if not old.strip() or old == new:
        raise Refused('"old" must be a passage of SKILL.md as it stands there, and "new" another one')


def _named(name: str, names: Collection[str]) -> str:
    if name not in names:
        raise Refused(f"only this may be judged: {', '.join(sorted(names))}")
    return name
