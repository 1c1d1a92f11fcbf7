"""Texts of models, tools and files that want to run, to load, to lead elsewhere or to break the page. None of it happens."""

from __future__ import annotations

import json

import pytest

from hermes_kernel.testing import Request, Server, Step, call, calls, say, status
from hermes_kernel.testing.wire import Thoughts
from tests.browser.homes import Said, furnish
from tests.browser.hostile import EVERYTHING, HUGE, TEXTS
from tests.browser.lab import KERNELS, MARKS

pytestmark = MARKS

SHORT = [
    "".join(each for each in " ".join(text.split()) if each.isprintable())[:100] for text in TEXTS if len(text) < 400
]
EVIL = "<img src=x onerror=canary(1)>"
NAMED = [name for name in (EVIL, 'a"onfocus=canary(1) autofocus', "b'onclick=canary(1) '") if "/" not in name]
PRINTING = f"import IPython\nfor text in {TEXTS!r}: print(text)\n{EVERYTHING!r}"


def answer(request: Request) -> Step:
    """What the model does is in the prompt's last word; it has used its tools once it has their results."""
    last = request.messages[-1]
    said = str(next(m["content"] for m in reversed(request.messages) if m["role"] == "user"))
    if last["role"] == "tool":
        return say(HUGE[1] if "huge" in said else EVERYTHING)
    if "subagent" in str(request.messages[0]["content"])[:200]:
        return say(EVERYTHING)
    if "question" in said:
        return call("clarify", {"question": EVERYTHING[:3_000], "choices": [*SHORT[:3], SHORT[10]]})
    if "huge" in said:
        return call("python", {"code": f"print({HUGE[0][:10]!r} * 100_000)"})
    if "refused" in said:
        return status(400, EVERYTHING[:2_000])
    if "children" in said:
        return call("delegate", {"tasks": [{"task": EVERYTHING[:3_900], "name": name} for name in SHORT[:3]]})
    tools = [
        ("python", {"code": PRINTING}),
        *((name, json.dumps({name: EVERYTHING[:2_000]})) for name in (EVIL, "x<b>")),
    ]
    return calls(tools, thoughts=Thoughts(EVERYTHING[:8_000]))


@pytest.mark.parametrize("kernel", KERNELS[-1:], ids=str)
def test_nothing_runs_loads_or_leads_elsewhere_whoever_says_it(lab, kernel, tmp_path):
    home = tmp_path / "home"
    body = EVERYTHING.replace("\x00", "")  # a file with it is no text
    skills = [(f"evil-{n}", text[:900], body) for n, text in enumerate(SHORT[:6])]
    named = [(name, f"{name} {SHORT[0]}", body) for name in NAMED]
    jobs = [(f"evil-{n}", "every monday 9am", text[:2_000]) for n, text in enumerate((EVERYTHING, *SHORT[:4]))]
    furnish(home, Said(SHORT, EVERYTHING[:3_000], EVERYTHING, (*skills, *named), SHORT[:12], jobs))
    told = {
        "turn": kernel.ask("Do everything."), "question": kernel.ask("Ask a question."), "huge": kernel.ask("Be huge."),
        "refused": kernel.ask("Be refused."), "children": kernel.ask("Have children."),
        "skills": "%hermes skills", "sessions": "%hermes sessions all", "memory": "%hermes memory", "jobs": "%hermes jobs",
        "runs": "%hermes runs", "loops": "%hermes loops", "curator": "%hermes curator", "usage": "%hermes usage",
        "budget": "%hermes budget", "timeline": "%hermes timeline", "skill": "%hermes skill evil-0",
        "search": "%hermes search canary",
    }  # fmt: skip
    shown = {*told} - {"huge", "runs", "loops", "curator", "usage", "budget", "timeline"}  # all with somebody's words
    with Server(answer) as server:
        path = lab.notebook("hostile", kernel, server.url, [*told.values()], home=home, max_retries=0)
        seen = lab.drive("hostile.mjs", path, cells=[*told], shown=[*shown], python=kernel.py("print(6 * 7)"))
    assert seen["hacked"] == seen["dialogs"] == seen["popups"] == seen["navigated"] == seen["remote"] == []
    assert seen["unsafe"] == {}
    assert seen["heard"] == [2]
    assert shown <= {*seen["shown"]}
    assert seen["errors"] == []
    assert seen["covered"] is False
    assert seen["works"].strip() == seen["still_works"].strip() == "42"
