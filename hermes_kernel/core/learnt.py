"""Kept facts about what an agent learns: what is remembered, what becomes of skills, when the slow loops looked.

They happen beside conversations, so they stand in sessions of their own (kind ``learning``) and change no turn.
``session`` is the conversation in which each came about, ``by`` who did it, one of `WHO`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

LEARNING = "learning"
"""The kind of the sessions that hold these facts and nothing else."""

WHO = ("person", "model", "nudge", "review", "curator", "hand", "import")
"""A person by a command, a model in a turn, a slow loop; ``hand``: found changed on disk, by whomever."""

LOOPS = ("nudge", "review", "curator")
"""The slow loops that look by themselves: also the kinds of the sessions in which they do."""

TITLES = {"nudge": "What is worth remembering", "review": "Is it worth a skill", "curator": "Curator: "}
"""How those sessions are called; behind the curator's comes which skills it looks at."""

SKIPPED = "skipped"
"""The outcome of a look that was not taken: there was nothing to look at, or it could not be."""


class Lesson:
    """What each of them is: a fact that is no part of a turn."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Remembered(Lesson):
    """The entries of ``target`` (``memory`` or ``user``) were ``before`` and are ``after``."""

    target: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    by: str
    session: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class SkillChanged(Lesson):
    """The folder of the skill ``name`` was ``before`` and is ``after``: the ids under which the history keeps all of
    its files, ``""`` where there is no folder. ``action`` is ``create``, ``patch``, ``edit``, ``write_file``,
    ``remove_file``, ``archive``, ``restore``, ``install``, ``uninstall``, ``undo``, ``rollback`` or ``found`` (changed
    on disk by hand); ``file`` the one it was about."""

    name: str
    action: str
    by: str
    before: str = ""
    after: str = ""
    file: str = ""
    session: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class SkillMarked(Lesson):
    """The skill ``name`` is now ``mark``: ``pinned`` or ``unpinned``, ``disabled`` or ``enabled``, ``trusted`` (of what
    it holds at this moment), ``stale`` or ``active``."""

    name: str
    mark: str
    by: str
    session: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class SkillUsed(Lesson):
    """The skill ``name`` was read: ``how`` is ``view`` (a model opened it) or ``use`` (a person asked for it by name).
    ``file`` is a file in it, empty for its SKILL.md."""

    name: str
    how: str = "view"
    file: str = ""
    by: str = "model"
    session: str = ""


@dataclass(frozen=True, slots=True)
class LookDue(Lesson):
    """``loop`` has something to look at in ``session``, for ``why``: until a `Looked` for both says it was done."""

    loop: str
    session: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Looked(Lesson):
    """``loop`` looked at ``session`` (empty: at none in particular), in the session ``aside``, which has what it cost;
    at its turns up to number ``seen``. ``wrote`` names what came of it; ``outcome`` is a turn's, or `SKIPPED`."""

    loop: str
    session: str = ""
    aside: str = ""
    seen: int = 0
    wrote: tuple[str, ...] = ()
    outcome: str = ""
    why: str = ""


Learnt = Remembered | SkillChanged | SkillMarked | SkillUsed | LookDue | Looked

LEARNT: tuple[type, ...] = Learnt.__args__


def is_learnt(fact: object) -> TypeGuard[Learnt]:
    """Whether it is one of them."""
    return isinstance(fact, LEARNT)


@dataclass(frozen=True, slots=True)
class Dated:
    """A fact that is no part of a turn, and when it came: ``t`` in seconds since 1970-01-01 UTC."""

    t: float
    fact: Lesson
