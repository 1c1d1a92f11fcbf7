"""`skill_manage`: how a model makes and changes skills. What it may not do alone becomes a question or a proposal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.learning.skills.consent import THEIRS, Consent, Done
from hermes_kernel.world.store.disk import StoreError
from hermes_kernel.world.tools.results import ToolError
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool, built_in

if TYPE_CHECKING:
    from hermes_kernel.learning.skills.workshop import Workshop

Action = Literal["create", "patch", "edit", "write_file", "remove_file", "archive"]
DIFF_LINES = 60


def make_skill_manage(
    workshop: Workshop, session: Callable[[], str], by: str, writes: Callable[[], str], present: Callable[[], bool]
) -> Tool:
    """The tool for whoever acts as `by` in `session`. ``writes`` is the setting ``skill_writes``; where ``present``
    says that a person can be asked, what needs their word is a question of the turn."""

    def skill_manage(  # noqa: PLR0913, PLR0917 - the model's words
        name: str, action: Action = "patch", content: str = "", description: str = "", body: str = "", old: str = "",
        new: str = "", patch: str = "", file: str = "", category: str = "", why: str = "",
        all: bool = False,  # noqa: A002, FBT001, FBT002
    ) -> str:  # fmt: skip
        """Keep a way of working as a skill, or mend one. Read it with skill_view before you change it.
        patch (the default) replaces a passage; create makes a skill; edit writes SKILL.md anew; write_file and
        remove_file are for its other files; archive puts it away.

        Args:
            name: The skill: lower-case letters, digits and hyphens.
            action: What to do.
            content: For create and edit all of SKILL.md, its head included; for write_file the file.
            description: For create, instead of content: what it does and when to use it, in one sentence or two.
            body: For create, with description: the instructions in Markdown.
            old: For patch: the passage to replace, as it stands; it must occur once, unless all is true.
            new: For patch: what to put there.
            patch: Instead of old and new: a diff of the file.
            file: The file in the skill, such as references/forms.md; none means SKILL.md.
            category: For create: a folder to sort it into.
            why: The reason, in a few words.
            all: For patch: replace every occurrence.
        """
        asked = {"content": content, "description": description, "body": body, "old": old, "new": new, "patch": patch}
        given: dict[str, Any] = {"by": by, "session": session(), "why": why, "consent": _consent(by, writes(), present)}
        try:
            done = _done(workshop, action, {**asked, "file": file, "category": category, "all": all}, name, given)
        except (SkillError, StoreError) as error:
            raise ToolError(str(error)) from None
        return _told(done)

    def risk(arguments: Mapping[str, Any]) -> Risk | None:
        return _risk(workshop, arguments, writes()) if by == "model" and present() else None

    return built_in(skill_manage, dangerous=risk)


def _risk(workshop: Workshop, arguments: Mapping[str, Any], setting: str) -> Risk | None:
    """What the person is asked before the call runs."""
    name = str(arguments.get("name", ""))
    if setting == "ask":
        return Risk("skills:write", "skills are changed only with your consent (skill_writes = ask)")
    if setting == "on" and _is_theirs(workshop, name, arguments):
        return Risk(f"skill:{name}", f"the skill {name} is your own")
    return None


def _consent(by: str, setting: str, present: Callable[[], bool]) -> Consent:
    """What the person has said before the call runs: where they were there to be asked, yes."""
    if setting == "off":
        raise ToolError("Skills are not changed here (skill_writes = off). Go on without it.")
    if by == "model" and present():
        return Consent.CALL
    return Consent.ASK if setting == "ask" else Consent.NONE


def _done(workshop: Workshop, action: Action, asked: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> Done:
    content, file = asked["content"], asked["file"]
    match action:
        case "create":
            text = content or _composed(name, asked["description"], asked["body"])
            return workshop.create(name, text, category=asked["category"], **given)
        case "patch":
            places = {"file": file, "every": asked["all"], "diff": asked["patch"]}
            return workshop.patch(name, asked["old"], asked["new"], **places, **given)
        case "edit":
            return workshop.edit(name, _needed(content, "content", "all of SKILL.md"), **given)
        case "write_file":
            return workshop.write_file(name, _needed(file, "file", "such as references/forms.md"), content, **given)
        case "remove_file":
            return workshop.remove_file(name, _needed(file, "file", "the one to remove"), **given)
        case "archive":
            return workshop.archive(name, **given)


def _is_theirs(workshop: Workshop, name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether it would change a skill that belongs to the person."""
    if arguments.get("action") == "create":
        return False
    try:
        return workshop.library.get(name).origin in THEIRS
    except SkillError:
        return False


def _composed(name: str, description: str, body: str) -> str:
    """A SKILL.md. The reference parser takes three hyphens for the end of the head, wherever they are."""
    said = " ".join(_needed(description, "description", "what it does and when to use it").split()).replace("---", "—")
    text = _needed(body, "body", "the instructions").strip()
    return f"---\nname: {name}\ndescription: {json.dumps(said, ensure_ascii=False)}\n---\n\n{text}\n"


def _needed(value: str, name: str, what: str) -> str:
    if not value.strip():
        raise ToolError(f"{name} is missing: {what}.")
    return value


def _told(done: Done) -> str:
    lines = done.diff.splitlines()
    shown = lines if len(lines) <= DIFF_LINES else [*lines[:DIFF_LINES], f"[{len(lines) - DIFF_LINES} more lines]"]
    found = [f"suspicious: {each.what}" for each in done.findings]
    return "\n".join([done.text, *found, *shown])
