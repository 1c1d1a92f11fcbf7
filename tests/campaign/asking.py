"""Which tools a model calls in the campaign, and with what."""

from __future__ import annotations

import random
from typing import Any

from tests.campaign.saying import text

Call = tuple[str, dict[str, Any]]

CODE = (
    "1 + 1",
    "print('x' * 3000)",
    "raise ValueError('\\udc80')",
    "import sys; sys.exit(3)",
    "def f(:",
    "x = [0] * 9; x",
)
COMMANDS = ("echo hello", "exit 3", "printf '\\xff\\x00'", "rm -rf ./nothing-there", "cat no-such-file", "env")


def several(dice: random.Random) -> list[Call]:
    """One call to six, with arguments that are JSON."""
    return [one(dice, at) for at in range(dice.choice([1, 1, 1, 2, 3, 6]))]


def one(dice: random.Random, at: int) -> Call:
    """Any call. Quick tools come often, those that start a process seldom."""
    common = dice.choices([_plain, _builtin, _costly], [24, 10, 1])[0]
    return common(dice, f"{dice.getrandbits(48):x}.{at}")


def _plain(dice: random.Random, name: str) -> Call:
    wanted: list[Call] = [
        ("price", {"sku": text(dice)}),
        ("price", {"sku": 7, "colour": None}),
        ("shaky", {"n": dice.randrange(9)}),
        ("mark", {"name": name}),
        ("mark_async", {"name": name}),
        ("mark_async", {"name": name}),
        ("slow", {"name": name}),
        ("huge", {"size": dice.choice([300, 3000, 30_000, 90_000])}),
        ("hostile", {"kind": dice.randrange(8)}),
        ("exits", {"kind": dice.randrange(7)}),
        ("hang", {"name": name}),
        ("stuck", {"name": name}),
    ]
    return dice.choices(wanted, [4, 1, 4, 4, 3, 3, 2, 3, 3, 3, 0.3, 0.3])[0]


def _builtin(dice: random.Random, name: str) -> Call:
    tasks = [
        "count the marks",
        {"task": "look \ud800", "tools": ["price", "mark"], "budget": dice.choice([2, 3, 90])},
        {"task": "look around", "name": text(dice)[:20], "context": text(dice)},
    ]
    choices = dice.choice([["yes", "no"], [], ["a" * 2000], [text(dice)]])
    wanted: list[Call] = [
        ("python", {"code": dice.choice(CODE)}),
        ("todo", {"items": [{"text": text(dice), "status": "pending"}]}),
        ("clarify", {"question": text(dice), "choices": choices}),
        ("delegate", {"tasks": dice.sample(tasks, dice.choice([1, 2, 3]))}),
        ("delegate", {"tasks": []}),
        (
            "memory",
            {"action": "add", "target": dice.choice(["memory", "user"]), "content": f"fact {name} {text(dice)}"},
        ),
        ("session_search", {"query": dice.choice(["A1", "日本", '"', "session:last mark", ""])}),
        ("skills_search", {"query": "anything"}),
        ("skill_view", {"name": "../../etc/passwd"}),
        ("skill_manage", {"action": "create", "name": f"s-{name}", "content": "no front matter"}),
        ("read_file", {"path": dice.choice(["a.txt", "no-such", "/dev/zero", "\x00"])}),
        ("write_file", {"path": dice.choice(["a.txt", "../outside.txt"]), "content": text(dice)}),
        ("edit_file", {"path": "a.txt", "old": "o", "new": "0", "all": True}),
        ("search_files", {"pattern": dice.choice(["o", "(", ""])}),
        ("schedule", {"action": "list"}),
        ("propose_cell", {"code": "1"}),
    ]
    return dice.choice(wanted)


def _costly(dice: random.Random, name: str) -> Call:
    return ("terminal", {"command": dice.choice(COMMANDS)})
