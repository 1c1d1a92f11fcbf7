"""The tables of pages, made from the code they describe. ``python -m tests.pages`` writes them; a test says that they are
fresh."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path

from hermes_kernel import Agent
from hermes_kernel.core.classify import STATUSES
from hermes_kernel.core.faults import LADDERS, Action, Fault
from hermes_kernel.core.prompts import ADVICE
from hermes_kernel.settings import Settings, Shown
from hermes_kernel.testing import (
    FastClock,
    ScriptedModel,
    Server,
    Step,
    filtered,
    forever,
    hang_up,
    login_page,
    out_of_quota,
    overflow,
    rate_limited,
    stall,
    status,
)
from hermes_kernel.view.turn.picture import Picture
from hermes_kernel.view.turn.present import status_line
from hermes_kernel.view.turn.seeing import see
from hermes_kernel.world.store import MemoryLog
from magics.commands.every import COMMANDS
from magics.options import usage
from tests.compatibility.combinations import table as combinations

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MARKED = re.compile(r"<!-- (?P<name>[a-z][\w: -]*) -->\n.*?<!-- /(?P=name) -->", re.DOTALL)

GROUPS: dict[str, tuple[str, ...]] = {
    "the model": (
        "base_url", "model", "api_key", "fallback_models", "aux_model", "context_window", "max_tokens",
        "model_max_tokens", "vision",
    ),
    "a turn": ("max_iterations", "turn_seconds", "max_continuations", "refunds"),
    "waiting": (
        "max_retries", "retry_base_seconds", "retry_max_seconds", "connect_seconds", "first_byte_seconds",
        "queued_seconds", "stale_seconds", "requests_per_minute",
    ),
    "tools": ("approvals", "answer_seconds", "tool_seconds", "tool_workers", "tool_result_chars", "mcp_servers"),
    "long conversations": ("compress_at", "compress_hard_at", "protect_first", "protect_last"),
    "subagents and maps": (
        "delegate_depth", "delegate_workers", "delegate_seconds", "delegate_kernel", "map_workers",
    ),
    "learning": (
        "learning", "memory_writes", "skill_writes", "nudge_every_turns", "nudge_seconds", "memory_chars", "user_chars",
        "skill_trigger_calls", "curator_days", "curator_idle_hours", "stale_days", "archive_days",
    ),
    "jobs": ("schedule_writes", "schedule_watch", "schedule_workers", "notify"),
    "the notebook": ("cells", "plain"),
    "recordings": ("record", "replay", "replay_gaps", "replay_tools", "spec"),
    "the store": ("home", "store_url"),
}  # fmt: skip
"""Settings in the order in which a person looks for them."""

HAPPENED: dict[Fault, str] = {
    Fault.RATE_LIMIT: "too many requests, for now",
    Fault.PROACTIVE_RATE_LIMIT: "your `requests_per_minute`, or what the server says is used up: not sent yet",
    Fault.OVERLOADED: "the server is up and has no room, or is still loading the model",
    Fault.SERVER_ERROR: "the server failed",
    Fault.TIMEOUT: "no answer began in time, or only keep-alives came",
    Fault.STALE_STREAM: "an answer began and fell silent; its connection was closed",
    Fault.DISCONNECT: "no connection, or one that broke",
    Fault.UNKNOWN: "an error that says nothing we know",
    Fault.INVALID_RESPONSE: "an answer that is none: a login page, no choices, an event that is no JSON",
    Fault.CONTEXT_OVERFLOW: "the conversation is longer than the model reads",
    Fault.PAYLOAD_TOO_LARGE: "the request is larger than the server takes",
    Fault.UNICODE: "the server chokes on a character",
    Fault.CONTENT_FILTER: "the provider withheld the prompt or the reply",
    Fault.BILLING: "no credit, or a limit that lasts longer than ten minutes",
    Fault.AUTH: "the key is wrong, missing or not allowed",
    Fault.MODEL_NOT_FOUND: "no such model, or no such address",
    Fault.FORMAT_ERROR: "the server refuses the request as it is written",
    Fault.SSL: "the certificate, or no encryption where it was expected",
    Fault.NOT_RECORDED: "a replay was asked for something that is not in its recording",
}
DONE: dict[Action, str] = {
    Action.WAIT: "wait, ask again",
    Action.REPAIR: "write it more plainly",
    Action.COMPRESS: "compress",
    Action.FALL_BACK: "next model",
    Action.REFUSE: "`refused`",
    Action.GIVE_UP: "`failed`",
}
PLAYED: dict[Fault, Step] = {
    Fault.RATE_LIMIT: rate_limited(37),
    Fault.OVERLOADED: status(503),
    Fault.SERVER_ERROR: status(500),
    Fault.TIMEOUT: status(504),
    Fault.STALE_STREAM: stall("It costs three euros.", after=1, seconds=60),
    Fault.DISCONNECT: hang_up(),
    Fault.INVALID_RESPONSE: login_page(),
    Fault.CONTEXT_OVERFLOW: overflow(),
    Fault.PAYLOAD_TOO_LARGE: status(413),
    Fault.UNICODE: status(400, "invalid unicode code point"),
    Fault.CONTENT_FILTER: filtered(),
    Fault.BILLING: out_of_quota(),
    Fault.AUTH: status(401, "Incorrect API key provided."),
    Fault.MODEL_NOT_FOUND: status(404, "The model `some-model` does not exist."),
    Fault.FORMAT_ERROR: status(400),
}
"""What a server that never recovers says."""


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(heads)]
    lines += [("---",) * len(lines[0]), *map(tuple, rows)]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


# --- settings


def settings(group: str) -> str:
    rows = {row.name: row for row in Settings().shown()}
    return table(("name", "default", "allowed", "what it is"), (_setting(rows[name]) for name in GROUPS[group]))


def _setting(row: Shown) -> tuple[str, ...]:
    return f"`{row.name}`", f"`{row.default}`" if row.default else "", row.allowed, row.about


# --- commands


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


# --- faults


def ladders() -> str:
    rows = ((f"`{fault}`", HAPPENED[fault], _statuses(fault), _rungs(ladder)) for fault, ladder in LADDERS.items())
    return table(("fault", "what happened", "HTTP", "what is done, in this order"), rows)


def _statuses(fault: Fault) -> str:
    codes = [str(code) for code, means in STATUSES.items() if means is fault]
    others = {Fault.SERVER_ERROR: ["other 5xx"], Fault.FORMAT_ERROR: ["other 4xx"]}
    return ", ".join(codes + others.get(fault, []))


def _rungs(ladder: Iterable[Action]) -> str:
    return " → ".join(DONE[rung] for rung in ladder)


def lines() -> str:
    """What a person reads of a server that never recovers: each fault is played."""
    return table(("fault", "while it goes on", "the line at the end"), asyncio.run(_lines()))


async def _lines() -> list[tuple[str, str, str]]:
    return [
        (f"`{fault}`", *(await _played(PLAYED[fault]) if fault in PLAYED else ("", f"… {ADVICE[fault]}")))
        for fault in LADDERS
    ]


async def _played(step: Step) -> tuple[str, str]:
    """The retry that is shown first, and the reason of the turn's end."""
    clock, shown, short = FastClock(), "", 0.2 if step is PLAYED[Fault.STALE_STREAM] else 90
    with tempfile.TemporaryDirectory() as home, Server(forever(step), now=clock.now) as server:
        given = {"home": home, "base_url": server.url, "api_key": "none", "approvals": "deny", "learning": False}
        async with Agent("some-model", clock=clock, stale_seconds=short, **given) as agent:
            picture = Picture(agent.settings.max_iterations)
            async with aclosing(agent.stream("What does A1 cost?")) as events:
                async for event in events:
                    picture = see(picture, event)
                    line = status_line(picture)
                    shown = shown or (line if line.startswith("retry") else "")
    reason = agent.turn.reason.replace("127.0.0.1", "models.example").replace(f"{short} s", "90 s")
    return (f"`{shown}`" if shown else ""), reason


MAKERS = {
    **{f"settings: {group}": (lambda group=group: settings(group)) for group in GROUPS},
    "options": options,
    "commands": commands,
    "tools": tools,
    "ladders": ladders,
    "lines": lines,
    "combinations": combinations,
}


def marked() -> list[Path]:
    """The pages that have tables of ours."""
    return [page for page in sorted(DOCS.glob("*.md")) if MARKED.search(page.read_text(encoding="utf-8"))]


def fresh(text: str) -> str:
    """`text` with every marked table made anew."""

    def anew(found: re.Match[str]) -> str:
        name = found["name"]
        return f"<!-- {name} -->\n{MAKERS[name]()}\n<!-- /{name} -->"

    return MARKED.sub(anew, text)


if __name__ == "__main__":
    for page in marked():
        page.write_text(fresh(page.read_text(encoding="utf-8")), encoding="utf-8")
