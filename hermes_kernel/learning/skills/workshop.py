"""Where skills are made and changed: each verb whole or not at all, under one lock, what was before in the history.

Which file becomes what is said here; `changing` puts it in place, `consent` says who may, `checking` what may be.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.learning.patch_diffs import applied, hunks
from hermes_kernel.core.learning.patching import NoPatch, patched
from hermes_kernel.core.learning.skill import NAMED, NoSkill, Skill, SkillError, State
from hermes_kernel.core.learning.skill_paths import MAIN, wrong_category, wrong_file, wrong_name
from hermes_kernel.core.learnt import SkillChanged
from hermes_kernel.core.redact import redact
from hermes_kernel.core.text import scrub
from hermes_kernel.learning.proposals import Proposal, Proposals
from hermes_kernel.learning.skills.bench import SAID
from hermes_kernel.learning.skills.changing import Changing, Wanted, Who
from hermes_kernel.learning.skills.checking import check_main, check_sizes, text_of
from hermes_kernel.learning.skills.consent import MODELS, Consent, Done, NeedsConsent
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.installing import Installing
from hermes_kernel.learning.skills.shelving import Shelving
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.tools.tool import Tool

if TYPE_CHECKING:
    from hermes_kernel.learning.skills.library import Library

__all__ = ["Consent", "Done", "NeedsConsent", "Workshop"]

UNREADABLE = "This proposal cannot be understood. Reject it."
LONG = 2_000  # characters of a file from which on half of it is not dropped without a reason


class Workshop(Shelving, Installing):
    """That of the skills under ``home/skills``. ``redact`` takes secrets out of text. Every verb raises `SkillError`
    (or `StoreError`, where it cannot be recorded) for what cannot be done, in a line or two; nothing was changed then.

    Models (any ``by`` but a person) change what models made. A person's own or installed skill they change with the
    person's consent to the call (`Consent.CALL`: the approval question of a turn), and else leave a proposal; one that
    came with the package is copied into the home and changed there. They have to have read what they change, as it is
    now (`Library.seen`, by content); the curator's patches carry their own quotation. Anything suspicious is a
    proposal, whoever agreed to the call."""

    def __init__(  # noqa: PLR0913 - what a workshop is made of, each by its name
        self, library: Library, history: History, chronicle: Chronicle, proposals: Proposals, home: Path,
        *, redact: Callable[[str], str] = redact,
    ) -> None:  # fmt: skip
        super().__init__(library, Changing(home / "skills", history, chronicle), proposals, redact)

    def create(  # noqa: PLR0913 - who makes what, and why
        self, name: str, content: str, *, category: str = "", by: str, session: str = "", why: str = "",
        consent: Consent = Consent.NONE,
    ) -> Done:  # fmt: skip
        """A new skill with this SKILL.md, valid by the standard to the letter."""
        if wrong := wrong_name(name) or wrong_category(category):
            raise SkillError(f"{name[:80]!r} cannot be made: {wrong}.")
        with self.changing.alone():
            self._is_new(name)
            folder = self.changing.skills.joinpath(*filter(None, category.split("/")), name)
            self.changing.fits(folder)
            files = {MAIN: self._bytes(content, b"")}
            check_sizes(files)
            check_main(name, files, strict=True)
            after = self.history.changed("", files)
            wanted = Wanted(
                name, "create", folder, "", after, self._spot(folder), "agent" if by in MODELS else "person"
            )
            return self._settle(wanted, files, {}, Who(by, session, why), consent)

    def patch(  # noqa: PLR0913 - who changes what, and why
        self, name: str, old: str = "", new: str = "", *, file: str = "", every: bool = False, diff: str = "", by: str,
        session: str = "", why: str = "", consent: Consent = Consent.NONE,
    ) -> Done:  # fmt: skip
        """One passage of a file (SKILL.md) for another; or all that a ``diff`` of one file wants."""

        def change(text: str) -> str:
            wanted = hunks(diff) if diff else ()
            others = {hunk.file for hunk in wanted} - {"", file or MAIN, f"{name}/{file or MAIN}"}
            if others:
                raise NoPatch(
                    f"The diff is of {', '.join(sorted(others))}: name one file of the skill as `file`, and patch that."
                )
            return applied(text, wanted) if diff else patched(text, scrub(old), scrub(new), every=every).text

        return self._rewritten(name, file or MAIN, change, "patch", Who(by, session, why), consent)

    def edit(  # noqa: PLR0913 - who changes what, and why
        self, name: str, content: str, *, by: str, session: str = "", why: str = "", consent: Consent = Consent.NONE
    ) -> Done:
        """All of SKILL.md anew."""
        return self._rewritten(name, MAIN, lambda _: content, "edit", Who(by, session, why), consent)

    def write_file(  # noqa: PLR0913 - who changes what, and why
        self, name: str, file: str, content: str, *, by: str, session: str = "", why: str = "",
        consent: Consent = Consent.NONE,
    ) -> Done:  # fmt: skip
        """A file of a skill other than SKILL.md, new or anew."""
        if file == MAIN:
            raise SkillError("SKILL.md is changed with patch, or written anew with edit.")
        return self._rewritten(name, file, lambda _: content, "write_file", Who(by, session, why), consent)

    def remove_file(  # noqa: PLR0913 - who changes what, and why
        self, name: str, file: str, *, by: str, session: str = "", why: str = "", consent: Consent = Consent.NONE
    ) -> Done:
        """A file of a skill less."""
        if file == MAIN:
            raise SkillError("A skill without SKILL.md is none: archive it instead.")
        return self._rewritten(name, file, lambda _: None, "remove_file", Who(by, session, why), consent)

    def accept(self, proposal: Proposal, *, by: str = "person") -> Done:
        """Do what was proposed, with the person's consent to what is suspicious in it. What is there must still be what
        it was when it was proposed; otherwise it goes on waiting."""
        what = {key: str(value) for key, value in proposal.what.items() if isinstance(value, str)}
        name, action, before, after = (what.get(key, "") for key in ("name", "action", "before", "after"))
        folder = self._proposed_folder(what.get("folder", ""), name)
        if action not in {*SAID, "archive"} or not (before if action == "archive" else after):
            raise SkillError(UNREADABLE)
        who = Who(proposal.by, proposal.session, proposal.why or f"accepted by the {by}")
        with self.changing.alone():
            if self.changing.current(folder) != before:
                raise SkillError(
                    f"{name} was changed since this was proposed. Reject {proposal.id}, or ask for it anew."
                )
            trusted = frozenset(self._suspects(after, name)) if action != "archive" else frozenset[str]()
            wanted = Wanted(name, action, folder, before, after, what.get("file", ""), what.get("origin", ""), trusted)
            done = self._shelved(wanted, who) if action == "archive" else self._put(wanted, who)
            self.proposals.remove(proposal)
        return done

    def put(  # noqa: PLR0913
        self, name: str, tree: str, *, action: str = "rollback", by: str, session: str = "", why: str = ""
    ) -> Done:
        """Have the folder of the skill `name` be `tree` of the history ("": none): where it is, or else where it last
        was. For a rollback; nothing is asked."""
        with self.changing.alone():
            return self._brought(name, tree, action, Who(by, session, why))

    def tool(
        self, session: Callable[[], str], by: str, writes: Callable[[], str], present: Callable[[], bool] = bool
    ) -> Tool:
        """``skill_manage`` for whoever acts as `by`. ``writes`` says ``on``, ``ask`` or ``off``; ``present`` whether a
        person can be asked: then what needs their word is a question before the call, else a proposal."""
        from hermes_kernel.learning.skills.skill_manage import make_skill_manage

        return make_skill_manage(self, session, by, writes, present)

    # --- how

    def _rewritten(  # noqa: PLR0913, PLR0917 - the one way of all that change a file
        self, name: str, file: str, change: Callable[[str], str | None], action: str, who: Who, consent: Consent
    ) -> Done:
        if file != MAIN and (wrong := wrong_file(file)):
            raise SkillError(f"{file[:80]!r} cannot be a file of a skill: {wrong}.")
        with self.changing.alone():
            skill = self._changeable(name)
            folder, before = self._place(skill)
            base = before or self.history.keep(Path(skill.folder))
            old = self.history.read(base, file) if file in self.history.files(base) else None
            self._was_read(skill, file, old, action, who)
            new = self._changed(file, old, change, action)
            self._shrinks(file, old, new, who)
            after = self.history.changed(base, {file: new})
            if after == base:
                raise SkillError(f"{file} of {name} is so already: nothing was changed.")
            self._check(skill.name, base, after)
            origin = ("agent" if who.by in MODELS else "person") if skill.origin == "bundled" else ""
            where = file if before else self._spot(folder)
            wanted = Wanted(skill.name, action, folder, before, after, where, origin)
            news = {} if new is None else {file: new}
            return self._settle(wanted, news, {} if old is None else {file: old}, who, consent, skill)

    def _changeable(self, name: str) -> Skill:
        skill = self.library.get(name)
        if skill.state is State.ARCHIVED:
            raise SkillError(f"{name} is archived. Restore it first.")
        if "/" in skill.name:
            raise SkillError(f"Two skills are called so: rename the folder {skill.folder} first.")
        return skill

    def _place(self, skill: Skill) -> tuple[Path, str]:
        """The folder to change, and what it is now; for a bundled skill, where its copy comes to stand."""
        if skill.origin != "bundled":
            return Path(skill.folder), self.changing.current(Path(skill.folder))
        folder = self.changing.skills.joinpath(*filter(None, skill.category.split("/")), skill.name)
        self.changing.fits(folder)
        return folder, ""

    def _is_new(self, name: str) -> None:
        try:
            there = self.library.get(name)
        except NoSkill:
            return
        hint = "restore it" if there.state is State.ARCHIVED else "patch it"
        raise SkillError(f"There is a skill {name!r} already ({there.state}): {hint}, or choose another name.")

    def _was_read(self, skill: Skill, file: str, old: bytes | None, action: str, who: Who) -> None:
        """Whoever writes over something knows what: by its content, not by when it was read."""
        if who.by not in MODELS or old is None or (who.by == "curator" and action == "patch"):
            return
        seen = self.library.seen(skill.name, file, who.session)
        view = f"skill_view(name={skill.name!r}" + (f", file={file!r})" if file != MAIN else ")")
        if not seen:
            raise SkillError(f"Read {file} of {skill.name} first, all of it: {view}. Then change it.")
        if seen != sha256(old).hexdigest():
            raise SkillError(
                f"{file} of {skill.name} was changed since you read it. Read it again: {view}. Then change it."
            )

    def _changed(self, file: str, old: bytes | None, change: Callable[[str], str | None], action: str) -> bytes | None:
        if old is None and action in {"patch", "remove_file"}:
            raise SkillError(f"There is no file {file!r} in it. A new one is made with write_file.")
        text = text_of(old or b"")
        if text is None and action == "patch":
            raise SkillError(f"{file} is no text; it can only be written anew.")
        try:
            new = change(text or "")
        except NoPatch as why:
            raise SkillError(str(why)) from None
        return None if new is None else self._bytes(new, old or b"")

    def _shrinks(self, file: str, old: bytes | None, new: bytes | None, who: Who) -> None:
        if who.by not in MODELS or old is None or new is None or who.why or len(old) < LONG or 2 * len(new) >= len(old):
            return
        lines = old.count(b"\n") + 1, new.count(b"\n") + 1
        raise SkillError(
            f"That would leave {lines[1]} of the {lines[0]} lines of {file}: more than half of it would go. Patch the "
            "passages that change; if so much has to go, say in `why` for what reason."
        )

    def _proposed_folder(self, spot: str, name: str) -> Path:
        *category, last = spot.split("/")
        hidden = any(not part.isprintable() or part[:1] in {"", "."} for part in category)
        if hidden or last != name or not NAMED.fullmatch(name):
            raise SkillError(UNREADABLE)
        return self.changing.skills / spot

    def changes(self, name: str) -> tuple[tuple[int, float, SkillChanged], ...]:
        """What became of a skill: number (from 1), seconds since 1970-01-01 UTC, fact; the oldest first."""
        return self.changing.past(name)
