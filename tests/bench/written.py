"""The figures as values in `docs/figures.json`, and as what pages show of them: tables between markers.

The pages are made of the file alone, so that whoever reads either knows the other.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.bench.contenders import CONTENDERS, HERE, PEERS
from tests.bench.figures import table
from tests.bench.growth import drawn
from tests.bench.rows import BARE, FLOOR, OURS, Row

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "figures.json"
PICTURE = ROOT / "docs" / "pictures" / "growth.svg"
PAGE, FRONT = ROOT / "docs" / "figures.md", ROOT / "README.md"
ORIGINAL = "hermes-agent"
FRAMEWORKS = [name for name in PEERS if name != ORIGINAL]

SHORT = (
    "CPU per iteration, 50 iterations",
    "CPU per iteration, 200 iterations",
    "CPU per iteration, 1,000 iterations",
    "CPU per streamed chunk",
    "8 async tools of 0.2 s in one reply",
    "8 sync tools of 0.2 s in one reply",
    "interrupt in a batch of 8 sync tools",
    "a stream silent for 20 s, limit 3 s",
    "import and the first answer, CPU",
    "memory after 50 iterations",
)
"""What the front page has of it."""

MARKED = re.compile(r"<!-- figures/(?P<name>[^>]+) -->\n(?P<text>.*?)\n?<!-- /figures/(?P=name) -->", re.DOTALL)
Kept = dict[str, Any]


# --- the file ---------------------------------------------------------------------------------------------------------


def kept() -> Kept:
    """What the file has."""
    return (
        dict(json.loads(FILE.read_text(encoding="utf-8")))
        if FILE.exists()
        else {"rows": [], "growth": {}, "rounds": {}}
    )


def rows(file: Kept) -> list[Row]:
    return [Row(**each) for each in file["rows"]]


def renewed(file: Kept, measured: Sequence[Row], growth: Kept, rounds: int) -> Kept:
    """The file with the groups in it that were measured, and the others as they were."""
    groups = {row.group for row in measured}
    stay = [row for row in rows(file) if row.group not in groups]
    places = {group: at for at, group in enumerate(dict.fromkeys(row.group for row in (*rows(file), *measured)))}
    every = sorted([*stay, *measured], key=lambda row: places[row.group])
    return {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "rounds": {group: rounds if group in groups else file["rounds"][group] for group in places},
        "versions": versions(),
        "rows": [
            row._asdict() | {"values": {who: _short(value) for who, value in row.values.items()}} for row in every
        ],
        "growth": growth or file["growth"],
    }


def versions() -> dict[str, str]:
    """Of whom it is measured beside."""
    texts = "\n".join((HERE / f"{CONTENDERS[name].file}.txt").read_text() for name in PEERS)
    pinned = {re.sub(r"\[.*", "", name): number for name, number in re.findall(r"^(\S+)==(\S+)$", texts, re.MULTILINE)}
    return pinned | {name: version(name) for name in ("openai", "httpx2")}


def _short(value: float | None) -> float | None:
    """Three digits: the others are of the machine."""
    return None if value is None else float(f"{value:.3g}")


# --- tables -----------------------------------------------------------------------------------------------------------


def merged(found: Iterable[Row]) -> list[Row]:
    """One line for what several modules measured of different contenders, in the order in which they came."""
    lines: dict[tuple[str, str], Row] = {}
    for row in found:
        before = lines.get((row.group, row.what))
        lines[row.group, row.what] = row if before is None else _joined(before, row)
    return list(lines.values())


def _joined(one: Row, other: Row) -> Row:
    notes = "; ".join(filter(None, (one.note, other.note)))
    bar = one.bar if one.bar is not None else other.bar
    return one._replace(values=one.values | other.values, bar=bar, note=notes)


def grouped(found: Sequence[Row], group: str) -> str:
    """A group as a table, with a column for each contender that has a figure in it, and its notes."""
    lines = [row for row in found if row.group == group]
    who = _in_order({name for row in lines for name in row.values})
    notes = [row.note for row in lines if row.note]
    body = [(f"{row.what}{_mark(row, notes)}", *(_cell(row, name) for name in who), *_held(row)) for row in lines]
    heads = ("measured", *who, "bar", "met")
    return "\n".join([table(heads, body), *(f"\n{_number(at)} {note}." for at, note in enumerate(notes))])


def glance(found: Sequence[Row]) -> str:
    """The short table of the front page: the frameworks are the one that does best in each line."""
    lines = [row for what in SHORT for row in found if row.what == what]
    heads = ("measured", "ours", "bare `openai` loop", "httpx + json", "the original", "best framework")
    return table(
        heads, ((row.what, *(_cell(row, name) for name in (OURS, BARE, FLOOR, ORIGINAL)), _best(row)) for row in lines)
    )


def bars(found: Sequence[Row]) -> str:
    """Every line of ours that has a bar; nothing for none."""
    held = [row for row in found if row.bar is not None and OURS in row.values]
    lines = [(row.what, _cell(row, OURS), *_held(row)) for row in held]
    return table(("held to a bar", "ours", "bar", "met"), lines) if lines else ""


def _best(row: Row) -> str:
    found = {name: value for name in FRAMEWORKS if (value := row.values.get(name)) is not None}
    if not found:
        return "none" if any(name in row.values for name in FRAMEWORKS) else "–"
    best = min(found, key=lambda name: found[name])
    return f"{_cell(row, best)} ({best})"


def _cell(row: Row, name: str) -> str:
    if name not in row.values:
        return "–"
    value = row.values[name]
    return "not" if value is None else f"{said(value)} {row.unit}".strip()


def said(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"


def _held(row: Row) -> tuple[str, str]:
    """The bar, and whether it is met."""
    if row.bar is None:
        return "", ""
    bar = row.bar if isinstance(row.bar, str) else f"≤ {said(row.bar)} {row.unit}".strip()
    return bar, {True: "yes", False: "**no**", None: ""}[row.met]


def _mark(row: Row, notes: Sequence[str]) -> str:
    return f" {_number(notes.index(row.note))}" if row.note else ""


def _number(at: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(at + 1))


def _in_order(names: set[str]) -> list[str]:
    known = [name for name in CONTENDERS if name in names]
    return [*known, *sorted(names - set(known))]


# --- pages ------------------------------------------------------------------------------------------------------------


def tables(file: Kept) -> dict[str, str]:
    """What stands between the markers of each name."""
    found = rows(file)
    groups = dict.fromkeys(row.group for row in found)
    whole = {"glance": glance(found), "bars": bars(found), "machine": _machine(file)}
    return whole | {group: grouped(found, group) for group in groups}


def filled(page: str, told: dict[str, str]) -> str:
    """The page with each table between its markers; those of names that nobody tells stay as they are."""

    def put(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- figures/{name} -->\n{told.get(name, match['text'])}\n<!-- /figures/{name} -->"

    return MARKED.sub(put, page)


def _machine(file: Kept) -> str:
    told = file["machine"]
    which = ", ".join(f"{name} {number}" for name, number in file["versions"].items())
    rounds = " to ".join(str(number) for number in sorted({min(file["rounds"].values()), max(file["rounds"].values())}))
    return f"{told['cores']} cores, CPython {told['python']}, medians of {rounds} rounds. Beside: {which}."


def write(file: Kept) -> None:
    """The file, and the pages and the picture that are made of it."""
    FILE.write_text(json.dumps(file, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for page in (PAGE, FRONT):
        page.write_text(filled(page.read_text(encoding="utf-8"), tables(file)), encoding="utf-8")
    if file["growth"]:
        PICTURE.write_text(drawn(file["growth"]), encoding="utf-8")
