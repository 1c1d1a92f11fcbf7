"""Whether what is to be a skill may be one: its names, its sizes, its SKILL.md, and what is suspicious in its files.

Looks at contents in memory, before anything is in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learning.skill_front import Refused, forbidden, front, parted
from hermes_kernel.core.learning.skill_paths import MAIN, colliding, wrong_file, wrong_installed
from hermes_kernel.core.learning.threats import in_name, threats
from hermes_kernel.learning.skills.reading import texts, understood
from hermes_kernel.learning.skills.trees import FILE_BYTES, FILES

MAIN_CHARS = 100_000  # of a SKILL.md; the original's limit
PROGRAMS = (
    ".sh", ".bash", ".zsh", ".fish", ".bat", ".cmd", ".ps1", ".exe", ".dll", ".so", ".dylib", ".com", ".scr", ".jar",
    ".vbs", ".app", ".msi", ".pyc", ".whl",
)  # fmt: skip
MAGIC = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")
ARCHIVE_ENDS = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst", ".whl", ".jar")


def text_of(content: bytes) -> str | None:
    """The text that a file holds; None where it is none."""
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def check_sizes(files: Mapping[str, bytes]) -> None:
    """Refuse a skill that is too large, has a file with a hostile name or two that are one.

    Raises:
        SkillError: the first that is wrong, by name.
    """
    if len(files) > FILES:
        raise SkillError(f"It has {len(files)} files; a skill has at most {FILES}.")
    for name, content in files.items():
        if why := wrong_file(name):
            raise SkillError(f"{name[:80]!r} cannot be a file of a skill: {why}.")
        if len(content) > FILE_BYTES:
            raise SkillError(f"{name} has {len(content):,} bytes; a file of a skill has at most {FILE_BYTES:,}.")
    if why := colliding(sorted(files)):
        raise SkillError(f"{why}. Rename one of them.")


def check_main(name: str, files: Mapping[str, bytes], *, strict: bool) -> None:
    """Refuse a SKILL.md that is none: ``strict`` by the reference library to the letter, else only as far as it must be
    understood.

    Raises:
        SkillError: what is wrong with it.
    """
    text = text_of(files.get(MAIN, b"\0"))
    if text is None:
        raise SkillError(
            f"{name} needs a SKILL.md that is text in UTF-8." if MAIN in files else f"{name} has no SKILL.md."
        )
    if len(text) > MAIN_CHARS:
        raise SkillError(
            f"SKILL.md has {len(text):,} characters, at most {MAIN_CHARS:,}: move parts to references/*.md."
        )
    wrong = violations(name, text)
    said = wrong if strict else [why for why in wrong if not _is_lenient(why, name)]
    if said:
        raise SkillError("SKILL.md is not valid: " + "; ".join(why.rstrip(".") for why in said[:4]) + ".")


def violations(name: str, text: str) -> list[str]:
    """What the reference library has against a SKILL.md of the skill `name`; nothing for one that keeps the standard.
    What could make its parser run for long is refused before."""
    from skills_ref.parser import parse_frontmatter  # type: ignore[import-untyped]
    from skills_ref.validator import validate_metadata  # type: ignore[import-untyped]

    try:
        head, body = parted(text)
        forbidden(head.split("\n"))
        if not head:
            return ["it must begin with a line ---, then name: and description:, then a line ---"]
        plain, _ = parse_frontmatter(text)
        wrong = list(validate_metadata(plain, Path(name)))
    except Refused as why:
        return [str(why)]
    except Exception as why:  # noqa: BLE001 - a parser of others, on a file of anybody's
        return [" ".join(str(why).split())[:300] or type(why).__name__]
    return wrong if body.strip() else [*wrong, "there are no instructions below its head"]


def _is_lenient(why: str, name: str) -> bool:
    """Whether an installed skill may be so: with more fields than the standard has, or a name as the original takes."""
    return why.startswith("Unexpected fields") or (why.startswith("Skill name") and not wrong_installed(name))


def named_in(text: str) -> str:
    """The name that a SKILL.md gives itself.

    Raises:
        SkillError: its head is not understood.
    """
    try:
        return front(text).name
    except ValueError as why:
        raise SkillError(f"SKILL.md is not valid: {why}.") from None


def suspicious(
    files: Mapping[str, bytes], runnable: Collection[str] = (), called: str = ""
) -> dict[str, tuple[Finding, ...]]:
    """What is suspicious in each of the files that have something; in a SKILL.md also what the skill is ``called``."""
    found = {name: tuple(_in_file(name, content, name in runnable)) for name, content in files.items()}
    if MAIN in found:
        found[MAIN] = (*in_name(called), *found[MAIN])
    return {name: each for name, each in found.items() if each}


def _in_file(name: str, content: bytes, is_runnable: bool) -> Iterator[Finding]:  # noqa: FBT001
    lower = name.lower()
    if is_runnable or lower.startswith("scripts/") or lower.endswith(PROGRAMS) or content.startswith(MAGIC):
        yield Finding("script", f"{name} is a program, which the agent may run", name)
    elif content.startswith(ARCHIVES) or lower.endswith(ARCHIVE_ENDS):
        yield Finding("script", f"{name} is an archive, into which nobody has looked", name)
    yield from in_name(name)
    text = text_of(content)
    if text is None:
        return
    where = "" if name == MAIN else f" in {name}"
    looked_through = texts(text, understood(content).front.description) if name == MAIN else (text,)
    for each in dict.fromkeys(found for part in looked_through for found in threats(part)):
        yield Finding(each.kind, each.what + where, each.excerpt, each.line)
