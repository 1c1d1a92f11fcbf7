"""The means of a workshop, and the way of every change in it: looked at, then done, left for the person, or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.skill import Skill, SkillError
from hermes_kernel.core.learning.skill_paths import MAIN
from hermes_kernel.core.text import scrub
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.skills.changing import Changing, Wanted, Who
from hermes_kernel.learning.skills.checking import check_main, check_sizes, suspicious, text_of, violations
from hermes_kernel.learning.skills.consent import Consent, Done, has_to_wait, refused, sentence
from hermes_kernel.learning.skills.history import History

if TYPE_CHECKING:
    from hermes_kernel.learning.skills.library import Library

DIFF_CHARS = 20_000  # of a proposal
MARKER = "[redacted:"
SAID = {
    "create": "Made the skill {0}.", "patch": "Changed {1} of the skill {0}.", "install": "Installed the skill {0}.",
    "edit": "Wrote {1} of the skill {0} anew.", "write_file": "Wrote {1} of the skill {0}.",
    "remove_file": "Removed {1} from the skill {0}.",
}  # fmt: skip


class Bench:
    """What all verbs work with."""

    def __init__(
        self, library: Library, changing: Changing, proposals: Proposals, redact: Callable[[str], str]
    ) -> None:
        self.library = library
        self.changing = changing
        self.history: History = changing.history
        self.proposals = proposals
        self._redact = redact

    def _settle(  # noqa: PLR0913, PLR0917
        self, wanted: Wanted, new: Mapping[str, bytes], old: Mapping[str, bytes], who: Who, consent: Consent,
        skill: Skill | None = None,
    ) -> Done:  # fmt: skip
        """Do it, or leave it for the person, or refuse it; by what is suspicious in what comes and was not before."""
        findings = self._news(wanted.name, new, old)
        origin = skill.origin if skill else ""
        if why := has_to_wait(who.by, origin, consent, findings):
            return self._proposed(wanted, who, why, findings)
        if findings and consent is not Consent.INFORMED:
            raise refused(f"{wanted.name} was left as it is", findings)
        held = suspicious(new, called=wanted.name)
        digests = self.history.files(wanted.after)
        done = self._put(replace(wanted, trusted=frozenset(digests[name] for name in held)), who, findings)
        for file in new if who.session else ():
            self.library.saw(wanted.name, file, digests[file], who.session)
        return done

    def _put(self, wanted: Wanted, who: Who, findings: tuple[Finding, ...] = ()) -> Done:
        self._mark(wanted)
        fact = self.changing.put(wanted, who)
        diff = self.history.diff(wanted.before, wanted.after)
        said = SAID[wanted.action].format(wanted.name, wanted.file)
        return Done(said, fact, diff, None, findings)

    def _mark(self, wanted: Wanted) -> None:
        """What is said of it beforehand: a mark of a skill that is not there yet does no harm."""
        fields: dict[str, object] = {}
        if wanted.origin:
            fields["origin"] = wanted.origin
        if wanted.trusted:
            known = self.library.marks.read().get(wanted.name)
            fields["trusted"] = wanted.trusted | (known.trusted if known else frozenset())
        if not wanted.before and wanted.action in {"create", "install"}:
            fields |= {"disabled": False, "stale": False, "pinned": False}
        if fields:
            self.library.marks.change(wanted.name, **fields)

    def _proposed(self, wanted: Wanted, who: Who, why: str, findings: tuple[Finding, ...]) -> Done:
        diff = self.history.diff(wanted.before, wanted.after)
        what = {
            "action": wanted.action, "name": wanted.name, "file": wanted.file, "before": wanted.before,
            "after": wanted.after, "origin": wanted.origin, "diff": diff[:DIFF_CHARS],
            "folder": self._spot(wanted.folder),
        }  # fmt: skip
        said = [sentence(each) for each in findings]
        proposal = self.proposals.add("skill", what, by=who.by, session=who.session, why=who.why, findings=said)
        text = f"Nothing was changed: {why}. Proposal {proposal.id} waits for the person's consent. Go on without it."
        return Done(text, None, diff, proposal, findings)

    def _news(self, name: str, new: Mapping[str, bytes], old: Mapping[str, bytes]) -> tuple[Finding, ...]:
        """What is suspicious in `new`, without what a person has consented to in what it was."""
        mark = self.library.marks.read().get(name)
        trusted = mark.trusted if mark else frozenset[str]()
        known: set[tuple[str, str, str]] = set()
        for file, content in old.items():
            if sha256(content).hexdigest() in trusted:
                known |= {
                    (each.kind, each.what, each.excerpt)
                    for each in suspicious({file: content}, called=name).get(file, ())
                }
        every = (each for found in suspicious(new, called=name).values() for each in found)
        return tuple(each for each in every if (each.kind, each.what, each.excerpt) not in known)

    def _suspects(self, tree: str, called: str) -> list[str]:
        """The digests of the files of a tree in which something is suspicious, as those of a skill so ``called``."""
        held = self.history.tree(tree)
        contents = {name: self.history.content(digest) for name, digest in held.files.items()}
        return [held.files[name] for name in suspicious(contents, held.runnable, called)]

    def _spot(self, folder: Path) -> str:
        """``category/name`` of a folder."""
        return folder.relative_to(self.changing.skills).as_posix()

    def _check(self, name: str, base: str, after: str) -> None:
        """Refuse what is no valid skill. Faults that were there before are their maker's."""
        files = {file: self.history.content(digest) for file, digest in self.history.files(after).items()}
        check_sizes(files)
        text = text_of(files.get(MAIN, b"\0"))
        if text is None:
            raise SkillError("SKILL.md must be text in UTF-8.")
        old = text_of(self.history.read(base, MAIN)) if MAIN in self.history.files(base) else None
        before = violations(name, old) if old is not None else []
        if set(violations(name, text)) - set(before):
            check_main(name, files, strict=True)

    def _bytes(self, text: str, old: bytes) -> bytes:
        """A text as it is kept. One that has a secret in it which was not there before is refused."""
        text = scrub(text)
        if self._redact(text).count(MARKER) - text.count(MARKER) > (
            self._redact(before := text_of(old) or "").count(MARKER) - before.count(MARKER)
        ):
            raise SkillError(
                "It holds what looks like a key or a password. Leave that out: say where it is kept instead."
            )
        return text.encode()
