"""What a docstring says of a function and of each parameter, in Google, NumPy or Sphinx form. Pure.

Read here because a schema needs two things of a docstring, and the general parsers take long to import.
"""

from __future__ import annotations

import inspect
import re

FIELD = re.compile(r"^[:@](?:param|arg|argument|parameter|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
OTHER_FIELD = re.compile(r"^[:@](?:\w+)(?:\s[^:]*)?:")
GOOGLE = re.compile(r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters):\s*$")
HEADING = re.compile(
    r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Returns?|Yields?|Raises"
    r"|Examples?|Notes?|Attributes|See Also|Warnings?|References|Todo)(:\s*$|\s*$)"
)
ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
NUMPY_ENTRY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")


def read_docs(docstring: str | None) -> tuple[str, dict[str, str]]:
    """The description without its sections, and the words for each parameter. Either may be empty."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    description: list[str] = []
    parameters: dict[str, list[str]] = {}
    at = 0
    while at < len(lines):
        section = _heading(lines, at)
        if section:
            end = _section_end(lines, at + section)
            if GOOGLE.match(lines[at].rstrip(":") + ":"):
                parameters.update(_entries(lines[at + section : end], NUMPY_ENTRY if section == 2 else ENTRY))
            at = end
        elif OTHER_FIELD.match(lines[at]):
            end = _field_end(lines, at + 1)
            parameters.update(_field(lines[at:end]))
            at = end
        else:
            description.append(lines[at])
            at += 1
    told = {name: " ".join(" ".join(words).split()) for name, words in parameters.items()}
    return "\n".join(description).strip(), {name: words for name, words in told.items() if words}


def _heading(lines: list[str], at: int) -> int:
    """How many lines the section heading at `at` takes: 2 in NumPy's form, 1 in Google's, 0 when there is none."""
    found = HEADING.match(lines[at])
    if not found:
        return 0
    following = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if following and not following.strip("-"):
        return 2
    return 1 if found[2].startswith(":") else 0


def _section_end(lines: list[str], at: int) -> int:
    start = at
    while at < len(lines) and not _heading(lines, at):
        prose = lines[at] and not lines[at][0].isspace() and at > start and not lines[at - 1].strip()
        if prose and not NUMPY_ENTRY.match(lines[at]):
            break
        at += 1
    return at


def _entries(lines: list[str], form: re.Pattern[str]) -> dict[str, list[str]]:
    indent = next((len(line) - len(line.lstrip()) for line in lines if line.strip()), 0)
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        entry = form.match(line.strip()) if len(line) - len(line.lstrip()) == indent else None
        if entry and line.strip():
            names = [name.strip().lstrip("*") for name in entry[1].split(",")]
            found.update({name: [entry[2]] if form is ENTRY else [] for name in names})
        else:
            for name in names:
                found[name].append(line)
    return found


def _field_end(lines: list[str], at: int) -> int:
    while at < len(lines) and lines[at][:1].isspace():
        at += 1
    return at


def _field(lines: list[str]) -> dict[str, list[str]]:
    found = FIELD.match(lines[0])
    return {found[1]: [found[2], *lines[1:]]} if found else {}
