"""What a skill, a category and a file in a skill may be called: names that mean the same on every file system.

A name is never mended: it is good, or it is refused with the reason.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 64  # characters; the standard's limit
LONGEST_FILE = 240  # characters of a file's path in a skill
DEEPEST = 8  # parts of it
CATEGORIES = 3  # folders between ``skills`` and a skill
MAIN = "SKILL.md"

_THEIRS = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")  # the original's names
_DRIVE = re.compile(r"[A-Za-z]:")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)


def wrong_name(name: str, what: str = "a skill") -> str:
    """Why `name` cannot be that of `what` which is made now: the standard's rules. "" where it can."""
    if not name or len(name) > LONGEST_NAME:
        return f"the name of {what} has 1 to {LONGEST_NAME} characters"
    if unicodedata.normalize("NFKC", name) != name:
        return f"the name of {what} must be written in its plain (NFKC) form"
    if name != name.lower() or not all(char.isalnum() or char == "-" for char in name):
        return f"the name of {what} has lower-case letters, digits and single hyphens only"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        return f"the name of {what} has single hyphens only, none first or last"
    if name in _DEVICES:
        return f"{name} is the name of a device on some systems"
    return ""


def wrong_installed(name: str) -> str:
    """Why a skill called `name` cannot be installed: dots and underscores are taken besides, as the original's have."""
    why = wrong_name(name)
    lenient = _THEIRS.fullmatch(name) and ".." not in name and name.split(".", maxsplit=1)[0] not in _DEVICES
    return "" if lenient and not name.endswith(".") else why


def wrong_category(category: str) -> str:
    """Why `category` can hold no skill: up to three names with ``/`` between. "" is good: none."""
    parts = category.split("/") if category else []
    if len(parts) > CATEGORIES:
        return f"a category has at most {CATEGORIES} parts"
    return next((why for part in parts if (why := wrong_name(part, "a category"))), "")


def wrong_file(file: str) -> str:
    """Why `file` cannot be a file of a skill, named from its folder with ``/``. "" where it can."""
    if not file or len(file) > LONGEST_FILE:
        return f"a file's path has 1 to {LONGEST_FILE} characters"
    if file.startswith(("/", "\\", "~")) or _DRIVE.match(file):
        return "it must be named from the skill's folder, without a drive and without / or ~ first"
    if _FORBIDDEN.search(file) or any(unicodedata.category(char) in _UNSEEN for char in file):
        return "it has a character that file names cannot have everywhere"
    if unicodedata.normalize("NFC", file) != file:
        return "it must be written in its composed (NFC) form"
    parts = file.split("/")
    if len(parts) > DEEPEST:
        return f"it is more than {DEEPEST} folders deep"
    return next((why for part in parts if (why := _wrong_part(part))), "") or _like_main(parts)


def _wrong_part(part: str) -> str:
    if part in ("", ".", ".."):
        return "it has .., . or an empty name in it"
    if part.startswith((".", " ")) or part.endswith((".", " ")):
        return "no name in it may begin or end with a dot or a space"
    if part.split(".", maxsplit=1)[0].strip().lower() in _DEVICES:
        return f"{part} is the name of a device on some systems"
    return ""


def _like_main(parts: list[str]) -> str:
    """SKILL.md by another case is the same file on some systems, and elsewhere one that passes for it."""
    looks = unicodedata.normalize("NFKC", parts[0]).casefold()
    return "it is SKILL.md by another name" if looks == MAIN.lower() and parts != [MAIN] else ""


def colliding(files: list[str]) -> str:
    """Two of the paths that are one and the same on some file system, or where one is a folder of the other; "" for
    none. Each is already good alone."""
    seen: dict[str, str] = {}
    for file in files:
        folded = unicodedata.normalize("NFKC", file).casefold()
        if folded in seen:
            return f"{seen[folded]} and {file} are one file on some systems"
        seen[folded] = file
    for folded, file in seen.items():
        parts = folded.split("/")
        above = next((seen["/".join(parts[:n])] for n in range(1, len(parts)) if "/".join(parts[:n]) in seen), "")
        if above:
            return f"{above} is a file, and {file} has it for a folder"
    return ""
