"""A summary from the facts alone, for when no model can be asked: what was asked, what ran and what came of it, which
files were seen, what went wrong, what was concluded. Bounded, and in the sections that a later summary updates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from hermes_kernel.core.compression.clipping import GAP
from hermes_kernel.core.compression.planning import Plan
from hermes_kernel.core.compression.sections import DONE, FACTS, GOAL, STATE, Section, merged, parsed, within
from hermes_kernel.core.compression.weight import size, tokens
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, User
from hermes_kernel.core.redact import redact
from hermes_kernel.core.text import brief

LEAST_TOKENS, MOST_TOKENS = 150, 1_500
NOTICE = "(A digest made without a model: much is missing. The whole earlier text can be found with session_search.)"
ASKED, NEWEST_ASKED, ARGUMENTS, CAME, CONCLUDED = 160, 600, 100, 120, 300
CALLS, ERRORS, CONCLUSIONS, FILES = 40, 8, 3, 40
"""Characters of each kind of line, and how many of the newest lines there are."""

_WORD = re.compile(r"[^\s\"'`<>|,;:(){}\[\]=\\*]+")
_FILE = re.compile(r"(?:~|\.{1,2})?(?:/?[\w.@+-]+)(?:/[\w.@+-]+)*\.[A-Za-z]\w{0,7}")
_KINDS = frozenset({
    "cfg", "conf", "css", "csv", "db", "duckdb", "gz", "html", "ini", "ipynb", "jpg", "js", "json", "jsonl", "log",
    "md", "parquet", "pdf", "pkl", "png", "py", "R", "rs", "sh", "sql", "svg", "toml", "ts", "tsv", "txt", "xlsx",
    "xml", "yaml", "yml", "zip",
})  # fmt: skip
"""Endings by which a name without a folder is known for a file's, for `np.array` is none."""
_LONGEST_PATH = 160


def digest(transcript: Transcript, plan: Plan, most: int = MOST_TOKENS) -> str:
    """The summary of what `plan` takes out of `transcript`, in at most `most` tokens (150 or more).

    It grows by half of what is taken out now at most. The previous summary is kept, section by section; where room is
    short, the older lines go first.
    """
    taken = plan.taken(transcript)
    old = (Section(s.title, tuple(line for line in s.lines if line != NOTICE)) for s in parsed(plan.previous))
    found = {GOAL: _asked(taken), DONE: _done(taken), STATE: _concluded(taken), FACTS: _facts(taken)}
    facts = (Section(title, tuple(map(redact, lines))) for title, lines in found.items())
    room = min(most, max(tokens(plan.previous) + size(taken) // 2, LEAST_TOKENS))
    return f"{NOTICE}\n\n{within(merged(old, facts), room - 2 * tokens(NOTICE))}".rstrip()


def _asked(taken: Transcript) -> Iterator[str]:
    prompts = [message.text for message in taken if isinstance(message, User) and message.text.strip()]
    for n, text in enumerate(prompts, 1 - len(prompts)):
        yield f"- Asked: {brief(text[:10_000], ASKED if n else NEWEST_ASKED)}"


def _done(taken: Transcript) -> Iterator[str]:
    calls = list(_answered(taken))
    if older := Counter(call.name for call, _ in calls[:-CALLS]):
        yield "- Earlier calls: " + ", ".join(f"{brief(name, 40)} × {n}" for name, n in older.most_common(CALLS))
    for call, result in calls[-CALLS:]:
        yield f"- {_brief_call(call)} → {brief(result.text[:2_000], CAME) if result.ok else 'failed'}"


def _facts(taken: Transcript) -> Iterator[str]:
    """What went wrong, and the files that were named; the newest of both."""
    failed = [(call, result) for call, result in _answered(taken) if not result.ok]
    yield from (f"- Failed: {_brief_call(call)}: {brief(r.text[:2_000], CAME)}" for call, r in failed[-ERRORS:])
    yield from (f"- File: {name}" for name in list(_files(taken))[-FILES:])


def _concluded(taken: Transcript) -> Iterator[str]:
    said = [message.text for message in taken if isinstance(message, Assistant) and message.text.strip()]
    yield from (f"- The assistant said: {brief(text[:10_000], CONCLUDED)}" for text in said[-CONCLUSIONS:])


def _answered(taken: Transcript) -> Iterator[tuple[ToolCall, Observation]]:
    """The calls with what came of them."""
    calls: dict[str, ToolCall] = {}
    for message in taken:
        match message:
            case Assistant():
                calls = {call.id: call for call in message.calls}
            case Observation(call_id, name):
                yield calls.get(call_id) or ToolCall(call_id, name, ""), message
            case User():
                pass


def _brief_call(call: ToolCall) -> str:
    return f"{brief(call.name, 40)} {brief(call.arguments[:1_000], ARGUMENTS)}".strip()


def _files(taken: Transcript) -> dict[str, None]:
    """The files that were named in prompts, in arguments, and where whole results were kept, the newest last."""
    found: dict[str, None] = {}
    for message in taken:
        match message:
            case User(text):
                names = _paths(text)
            case Assistant(_, calls):
                names = [name for call in calls for name in _paths(call.arguments)]
            case Observation(text=text):
                kept = GAP.search(text)
                names = [kept[2]] if kept and kept[2] else []
        for name in names:
            found.pop(name, None)
            found[name] = None
    return found


def _paths(text: str) -> list[str]:
    words = (word.rstrip(".!?") for word in _WORD.findall(text[:20_000]) if len(word) <= _LONGEST_PATH)
    return [word for word in words if _FILE.fullmatch(word) and ("/" in word or word.rpartition(".")[2] in _KINDS)]
