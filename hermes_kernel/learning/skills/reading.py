"""A SKILL.md read: what it says of itself, and what in it is suspicious. What was found once is known by its content.

Reading is lenient, so that what other programs wrote is taken; the reference library has the word on what is not
understood here, and on whether a skill keeps the standard.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learning.skill_front import Front, Refused, Unread, first_line, front, parted
from hermes_kernel.core.learning.skill_paths import MAIN
from hermes_kernel.learning.skills.disk import Place, Sign, main
from hermes_kernel.learning.skills.scanned import Scanned


@dataclass(frozen=True, slots=True)
class Content:
    """A SKILL.md: its text, the SHA-256 of its bytes, and what it says of itself; or ``why`` it cannot be read."""

    digest: str = ""
    front: Front = field(default=Front("", "", (), ""), repr=False)
    text: str = field(default="", repr=False)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """The little of a `Content` that is kept as long as its file has the same sign."""

    sign: Sign
    digest: str
    description: str
    tags: tuple[str, ...]
    called: str
    why: str


class Reading:
    """Reads the skills under `skills`, and remembers. Safe from any thread."""

    def __init__(self, skills: Path) -> None:
        self.scanned = Scanned(skills)
        self._told: dict[str, Told] = {}

    def told(self, place: Place) -> Told:
        """What the skill says of itself; its file is opened only where its sign is another than when it was last."""
        told = self._told.get(place.folder)
        if told is None or told.sign != place.sign:
            read = read_main(place.folder)
            said = read.front
            told = Told(place.sign, read.digest, said.description, said.tags, said.name, read.why)
            self._told[place.folder] = told
        return told

    def findings(self, digest: str, folder: str) -> tuple[Finding, ...]:
        """What is suspicious in the SKILL.md of `folder`, whose content is `digest`."""
        known = self.scanned.known(digest)
        if known is not None:
            return known
        read = read_main(folder)  # which may be another by now, so what is found is remembered of that one
        return self.scanned.scan(read.digest, *texts(read.text, read.front.description))


def read_main(folder: str) -> Content:
    """The SKILL.md in `folder` as it is at this moment; never raises for what may be in it."""
    try:
        return understood(main(folder))
    except SkillError as error:
        return Content(why=str(error))


def understood(raw: bytes) -> Content:
    """A SKILL.md of which `raw` are the bytes."""
    digest = hashlib.sha256(raw).hexdigest()
    if b"\0" in raw:
        return Content(digest, why=f"{MAIN} is no text")
    text = raw.decode("utf-8", "replace")
    try:
        return Content(digest, _described(front(text)), text)
    except Refused as error:
        return Content(digest, text=text, why=str(error))
    except Unread:
        return _by_reference(digest, text)


def texts(text: str, described: str) -> tuple[str, ...]:
    """What is to be looked through of a SKILL.md: what is written, and what its head makes of it. A description may be
    put together of lines between which much else is written, or of escapes."""
    if described in text:
        return (text,)
    # where a line begins tells a mark of a speaker from mere words
    unescaped = (text.replace("\\n", "\n"),) if "\\n" in text else ()
    return (text, described, *unescaped)


def violations(folder: Path) -> tuple[str, ...]:
    """What the reference library has against the skill in `folder`; nothing for one that keeps the standard. It reads
    whatever is there, so it is shown no SKILL.md that is not read here."""
    if why := read_main(str(folder)).why:
        return (why,)
    from skills_ref import validate  # type: ignore[import-untyped]

    try:
        return tuple(validate(folder))
    except Exception as error:  # noqa: BLE001 - a parser of others, on a file of anybody's
        return (f"the reference library cannot read it: {type(error).__name__}",)


def _described(said: Front) -> Front:
    return said if said.description else Front(said.name, first_line(said.body), said.tags, said.body)


def _by_reference(digest: str, text: str) -> Content:
    """What the reference library makes of a head that is more than `front` understands."""
    from skills_ref.parser import parse_frontmatter  # type: ignore[import-untyped]

    try:
        head, body = parted(text)
        plain, _ = parse_frontmatter(f"---\n{head}\n---\n")
        name, said = plain.get("name", ""), plain.get("description", "")
    except Exception as error:  # noqa: BLE001 - as `violations`
        lines = str(error).split("\n")
        return Content(digest, text=text, why=f"its head is not understood: {' '.join(lines[:2])[:160]}")
    if not isinstance(name, str) or not isinstance(said, str):
        return Content(digest, text=text, why="its head has a name or a description that is no text")
    return Content(digest, _described(Front(" ".join(name.split()), " ".join(said.split())[:1024], (), body)), text)
