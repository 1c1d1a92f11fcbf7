"""Calls written into text are found, only if offered; a person never sees them flash by, and never misses a word."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.hold import Hold
from hermes_kernel.core.rescue import begun, rescue

law = settings(deadline=None)
OFFERED = frozenset({"price", "python"})
FORMS = [
    "<tool_call>\n{}\n</tool_call>",
    "<tool_call>{}",
    "<function_call>{}</function_call>",
    "<|python_tag|>{}",
    "```json\n{}\n```",
    "```\n{}\n```",
    "```tool_call\n{}",
    "{}",
    "[{}]",
    "\n  {}",
    "[TOOL_CALLS] [{}]",
    "<tools>\n{}\n</tools>",
    "{}\n```\n```\n```",
]
values = st.dictionaries(st.text("abc", min_size=1, max_size=4), st.text(max_size=10) | st.integers(), max_size=3)


def ids():
    numbers = itertools.count()
    return lambda: f"made{next(numbers):05d}"


def hold(parts, offered=OFFERED, limited=False):
    """(what was shown while it streamed, what was left to show, calls, cut)."""
    holding = Hold(offered)
    shown = "".join(holding.feed(part) for part in parts)
    return shown, *holding.close(ids(), limited=limited)


def named(calls):
    return [(call.name, json.loads(call.arguments)) for call in calls]


@law
@given(st.text(max_size=60) | st.text('<{[`\n "tjname:_colsprie>', max_size=60), st.data())
def test_text_without_a_call_is_shown_whole_however_it_is_cut(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    parts = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    shown, rest, calls, _ = hold(parts)
    if not calls:
        assert shown + rest == text


@law
@given(
    st.sampled_from(FORMS), values, st.sampled_from(["", "Let me look.\n", "Ein Wort, dann:\n\n"]), st.integers(1, 9)
)
def test_a_call_in_any_form_is_found_and_not_a_character_of_it_is_shown(form, arguments, before, size):
    text = before + form.replace("{}", json.dumps({"name": "price", "arguments": arguments}))
    shown, rest, calls, cut = hold([text[at : at + size] for at in range(0, len(text), size)])
    assert named(calls) == [("price", arguments)]
    assert (shown.strip(), rest, cut) == (before.strip(), "", False)


@law
@given(st.sampled_from(FORMS), values)
def test_only_offered_names_count(form, arguments):
    text = form.replace("{}", json.dumps({"name": "launch", "arguments": arguments}))
    shown, rest, calls, _ = hold(text)
    assert not calls
    assert shown + rest == text


@law
@given(st.text(max_size=40), st.sampled_from(FORMS), values)
def test_with_no_tools_offered_nothing_is_held_back(before, form, arguments):
    text = before + form.replace("{}", json.dumps({"name": "price", "arguments": arguments}))
    assert hold([text], frozenset()) == (text, "", (), False)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"type": "function", "function": {"name": "price", "arguments": "{\\"a\\": 1}"}}', [("price", {"a": 1})]),
        ('{"function": {"name": "price", "parameters": {"a": 1}}}', [("price", {"a": 1})]),
        ('{"arguments": {"a": 1}, "name": "price"}', [("price", {"a": 1})]),
        ('{"tool": "price", "tool_input": {"a": 1}}', [("price", {"a": 1})]),
        (
            '{"name": "price", "arguments": {"a": 1}}\n{"name": "python", "arguments": {}}',
            [("price", {"a": 1}), ("python", {})],
        ),
        (
            '[{"name": "price", "arguments": {"a": 1}}, {"name": "python", "arguments": {}}]',
            [("price", {"a": 1}), ("python", {})],
        ),
        ('{"name": "price", "arguments": {"a": 1}}\n' * 3, [("price", {"a": 1})]),
        ('[TOOL_CALLS]price[ARGS]{"a": 1}', [("price", {"a": 1})]),
        ('[TOOL_CALLS]price[CALL_ID]x1[ARGS]{"a": 1}[TOOL_CALLS]python{}', [("price", {"a": 1}), ("python", {})]),
        ('<function=price={"a": 1}</function>', [("price", {"a": 1})]),
        ('<function=price>{"a": 1}</function>', [("price", {"a": 1})]),
        ('<function=price{"a": 1}></function>', [("price", {"a": 1})]),
        (
            "<tool_call>\n<function=python>\n<parameter=code>\nx = 1\nprint(x)\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>",
            [("python", {"code": "x = 1\nprint(x)", "n": 3})],
        ),
        (
            '```json\n{"name": "python", "arguments": {"code": """\nprint("hi")\n"""}}\n```',
            [("python", {"code": '\nprint("hi")\n'})],
        ),
        ("{'name': 'price', 'arguments': {'a': 1}}", [("price", {"a": 1})]),
    ],
)
def test_forms_of_many_models(text, calls):
    shown, rest, found, _ = hold(text)
    assert named(found) == calls
    assert shown + rest == ""
    assert named(rescue(text, OFFERED, ids())[0]) == calls


@pytest.mark.parametrize(
    "text",
    [
        "Use `price` with a list like [1, 2] or a set {1}.",
        'He said {"name": "price", "arguments": {}} in the middle of a line.',
        '{"name": "Ann", "age": 3}',
        '{"id": 1, "name": "price"}',
        "```python\nx = {'a': 1}\n```",
        "```json\n[1, 2]\n```",
        "```jsonc\n{}\n```",
        "```json {",
        "a < b and <b>bold</b>",
        '{"name": 3}',
        '{"name": "pri',
        '{"name"',
        "```js",
        "```js\n{}",
        '<function=launch>{"a": 1}</function>',
        '[TOOL_CALLS]launch[ARGS]{"a": 1}',
        "[{",
        "{\n",
        "<tool",
        "`",
        "``x",
        '{"type": "object"}',
        '{"name": "price"',
    ],
)
def test_what_only_looks_like_a_call_is_text(text):
    shown, rest, calls, _ = hold(text)
    assert (shown + rest, calls) == (text, ())


def test_text_is_let_through_as_soon_as_it_is_plainly_none():
    holding = Hold(OFFERED)
    assert holding.feed("A line.\n{") == "A line.\n"
    assert holding.feed('"age') == ""
    assert holding.feed('": 3}') == '{"age": 3}'
    assert holding.feed(" and on") == " and on"


def test_a_call_that_the_limit_cut_off_in_text_is_a_cut_call():
    text = '```json\n{\n  "name": "python",\n  "arguments": {\n    "code": """\nimport'
    shown, rest, calls, cut = hold(text, limited=True)
    assert (shown, rest, cut) == ("", "", True)
    assert "cut off" in calls[0].flaw
    assert hold(text)[:3] == ("", text, ())
    assert hold("<tool_call>nothing here", limited=True) == ("", "<tool_call>nothing here", (), False)


def test_a_call_that_is_begun_counts_only_if_offered():
    assert begun('{"name": "launch", "arg', OFFERED, ids()) is None


def test_a_written_call_beside_a_proper_one_is_dropped_and_other_words_are_not():
    holding = Hold(OFFERED)
    holding.feed('<tools>\n{"type"')
    assert holding.drop() == ""
    holding = Hold(OFFERED)
    holding.feed("```json\n")
    assert holding.drop() == "```json\n"


def test_arguments_that_are_no_object_are_a_flaw_of_the_call():
    calls, _ = rescue('<tool_call>{"name": "price", "arguments": [1]}</tool_call>', OFFERED, ids())
    assert "must be one JSON object" in calls[0].flaw


def test_thousands_of_braces_cost_nothing():
    assert rescue("{" * 50_000, OFFERED, ids())[0] == ()
    assert rescue('{"tool_calls": [1, "x"]} {"name": "price"} {"function": {"a": 1}}', OFFERED, ids())[0] == ()


@pytest.mark.parametrize("words", ["<function=", "<function=price>", "say <function=price>{}</function> then"])
def test_a_tag_in_the_arguments_of_a_call_is_a_part_of_them(words):
    text = json.dumps({"name": "price", "arguments": {"a": words}})
    assert named(hold(f"<tool_call>{text}</tool_call>")[2]) == [("price", {"a": words})]


def test_words_around_calls_stay():
    text = 'One.\n{"name": "price", "arguments": {"a": 1}}\nTwo.'
    calls, rest = rescue(text, OFFERED, ids())
    assert named(calls) == [("price", {"a": 1})]
    assert rest.split() == ["One.", "Two."]


@pytest.mark.parametrize("name", ["call_as_bare_json", "calls_in_a_fence", "cut_call_in_a_fence"])
def test_recorded_calls_in_text_are_found_whatever_the_cut(name):
    recorded = Path(__file__).parent.parent / "contracts" / "streams" / f"{name}.txt"
    events = [json.loads(line[6:]) for line in recorded.read_text().splitlines() if line.startswith("data: {")]
    text = "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])
    shown, _, calls, _ = hold(text, frozenset({"add", "get_weather", "run_python"}), limited=name.startswith("cut"))
    assert calls
    assert shown == ""


@pytest.mark.parametrize("opening", ["{", '[{"name"'])
def test_what_might_still_become_a_call_after_a_whole_page_is_text_and_is_shown(opening):
    text = opening + " " * 1_000
    assert Hold(OFFERED).feed(text) == text
    assert Hold(OFFERED).feed(opening) == ""


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ["<", "[", "{", "`", "\n[", "\n{ ", '{"', '\n{"name": ', "\n```\n", "<tool", "[ "])
def test_whatever_comes_in_one_piece_is_judged_in_linear_time(piece):
    """Both sizes are far above the timer's grain; quadratic time would be a factor of eight on top."""
    small, large = (piece * (size // len(piece)) for size in (20_000, 160_000))
    assert _seconds(large) < 8 * 4 * max(_seconds(small), 0.01)


def _seconds(text: str) -> float:
    before = time.process_time()
    Hold(OFFERED).feed(text)
    return time.process_time() - before
