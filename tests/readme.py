"""README's tables, made from the code they describe. ``python -m tests.readme`` writes them; a test says that they are fresh."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hermes_kernel import Agent
from hermes_kernel.settings import LATER, RANGES, Settings
from hermes_kernel.testing import ScriptedModel
from hermes_kernel.world.store import MemoryLog
from magics.commands.every import COMMANDS
from magics.options import usage

README = Path(__file__).resolve().parent.parent / "README.md"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(heads)]
    lines += [("---",) * len(lines[0]), *map(tuple, rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def settings() -> str:
    shown = [row for row in Settings().shown() if row.name not in LATER]
    rows = [(f"`{row.name}`", f"`{row.default}`" if row.default else "", row.allowed, row.about) for row in shown]
    later = ", ".join(f"`{name}`" for name in RANGES if name in LATER)
    note = f"\n\nAccepted, and without effect in this version: {later}." if later else ""
    return table(("name", "default", "allowed", "what it is"), rows) + note


def options() -> str:
    return table(("option", "what it does"), ((f"`{written}`", about) for written, about in usage()))


def commands() -> str:
    rows = ((f"`%hermes {name} {command.takes}".rstrip() + "`", command.about) for name, command in COMMANDS.items())
    return table(("command", "what it does"), rows)


def tools() -> str:
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(ScriptedModel([]), settings=Settings(home=Path(folder)), log=MemoryLog())
        specs = agent.tools.specs()
        agent.close()
    rows = []
    for spec in sorted(specs, key=lambda spec: spec.name != "python"):
        parameters = json.loads(spec.parameters)
        needed = parameters.get("required", ())
        names = [name if name in needed else f"{name}=…" for name in parameters.get("properties", {})]
        rows.append((f"`{spec.name}({', '.join(names)})`", re.split(r"(?<=[.!?])\s", spec.description)[0]))
    return table(("tool", "what it does"), rows)


def fresh(text: str) -> str:
    """`text` with every marked table made anew."""
    for name, make in (("settings", settings), ("options", options), ("commands", commands), ("tools", tools)):
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        text = f"{before}{start}{make()}\n{end}{after}"
    return text


if __name__ == "__main__":
    README.write_text(fresh(README.read_text(encoding="utf-8")), encoding="utf-8")
