"""What an exported session keeps true, whatever was said in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

import mistune
import nbformat
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbconvert.filters import markdown2html

from hermes_kernel.core.compression.summary import summary_message
from hermes_kernel.core.events import (
    Accepted,
    Asked,
    Final,
    Interrupted,
    Kept,
    Observed,
    Opened,
    Outcome,
    Replied,
    Titled,
    Undone,
)
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, User
from hermes_kernel.core.plain import dump, load
from hermes_kernel.core.text import CELLS, END_OF_CELLS
from hermes_kernel.export import KERNELS, export, format_of
from hermes_kernel.export.marks import arguments, fence, span
from hermes_kernel.export.prompts import asked, cell, literal, own_words
from hermes_kernel.export.said import Said, Used, pieces
from hermes_kernel.world.store.records import Record
from magics.prompt import Prompt

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
BAITS = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</details>", "</summary>", "<iframe src=//e>", "```",
    "~~~~", "`````", "![i](http://e/x.png)", "[l](javascript:alert(1))", "<a href='javascript:x'>", "\n\n", "\n", "    ",
    "> ", "- ", "1. ", "|", "`", "``", "<!--", "-->", "<![CDATA[", "]]>", "$$", "$name", "@file.txt", "\\", "&lt;", "**",
    "# ", "---", "\u2028", "\x0c", "\x85", "[a]: javascript:x", "<style>", "<svg/onload=alert(1)>", "\r", "\ud800", "text",
)  # fmt: skip
hostile = st.lists(st.sampled_from(BAITS) | st.text(max_size=5), max_size=8).map("".join)

ALLOWED = {
    "a", "blockquote", "br", "code", "details", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
    "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul", "div", "span", "del",
}  # fmt: skip


def stored(facts: Iterable[Kept], session: str = "s1", t: float = 1.8e9) -> list[Record]:
    return [Record(f"{session}.{n}", session, n, t + n, dump(fact)) for n, fact in enumerate(facts)]


def turn(prompt: str, answer: str = "Three.", result: str = "3", code: str = '{"code": "len(df)"}') -> list[Kept]:
    call = ToolCall("c1", "python", code)
    return [
        Asked(prompt, budget=90),
        Replied("", (call,)),
        Observed("c1", result),
        Replied(answer),
        Final(Outcome.COMPLETED, answer),
    ]


class Page(HTMLParser):
    """The tags and the targets of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.targets: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets += [value or "" for name, value in attrs if name in ("href", "src")]


def harmless(markdown: str) -> None:
    """No renderer that passes HTML through makes anything live of `markdown`."""
    for render in (mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "url"]), markdown2html):
        page = Page(str(render(markdown)))
        assert page.tags <= ALLOWED, page.tags - ALLOWED
        assert not any(name.startswith("on") for name in page.attributes)
        assert all(target.startswith(("http://", "https://", "mailto:", "#")) for target in page.targets)


# --- Markdown


@settings(max_examples=150, deadline=None)
@given(hostile, hostile, hostile, hostile, hostile)
@example("`<b> ![i](http://e/x.png)`", "```\n<script>", "`````\n</details>", "t", "x")
@example("", "$$", "$$![i](http://e/x.png)", "", "")
@example("", "x\n$$", "y\n$$\n![i](http://e/x.png)", "", "")
@example("", "`$$`", "$$![i](http://e/x.png)", "", "")
@example("", "$$ a $$ $$", "$$![i](http://e/x.png)", "", "")
@example("", "> $$ a\n\nb $$", "$$![i](http://e/x.png)", "", "")
@example("", "    $$ a\n$$", "$$![i](http://e/x.png)", "", "")
@example("", "$$ a\n```\n$$", "$$\n![i](http://e/x.png)", "", "")
@example("", "\\\\[", "\\\\]![i](http://e/x.png)", "", "")
@example("", "\\begin{a}", "\\end{a}![i](http://e/x.png)", "", "")
def test_nothing_said_in_a_session_takes_effect_in_its_markdown(prompt, answer, result, title, name):
    call = ToolCall("c1", name, result)
    facts = [
        Opened("s1", model=name, notebook=title, parent=prompt),
        Titled(title),
        Asked(prompt, (Image(name, result),)),
        Replied(answer, (call,)),
        Observed("c1", result, ok=False),
        Final(Outcome.REFUSED, answer, result),
    ]
    harmless(export(stored(facts, session=f"s{name}"), "md"))


@settings(max_examples=150, deadline=None)
@given(hostile)
def test_nothing_breaks_out_of_a_fence(text):
    marker = "after-the-fence"
    page = str(mistune.html(f"{fence(text)}\n\n{marker}\n"))
    assert f"<p>{marker}</p>" in page
    assert Page(page).tags <= {"pre", "code", "p"}


def test_a_session_reads_as_a_conversation():
    told = export(stored([Opened("s1", model="m", notebook="a.ipynb"), *turn("How many?")]), "md")
    assert told.startswith("# How many?\n\n*Session `s1` · from `a.ipynb` · asked `m` · 2027-01-15 08:00 UTC*\n")
    assert "> How many?" in told
    assert "<summary>python · len(df)</summary>\n\n```python\nlen(df)\n```\n\n```\n3\n```\n\n</details>" in told
    assert told.endswith("Three.\n\n*completed · 2 of 90 calls · 1 tool · about 0 tokens*\n")


def test_what_was_taken_back_is_not_told_and_is_kept_in_the_lines():
    facts = [Opened("s1"), *turn("first", "one"), *turn("second", "two"), Undone(), *turn("third", "three")]
    told, run, kept = (export(stored(facts), form) for form in ("md", "ipynb", "jsonl"))
    assert "first" in told
    assert "third" in told
    assert "second" not in told
    assert "two" not in told
    assert "second" not in run
    assert "second" in kept
    assert len(kept.splitlines()) == len(facts)


@pytest.mark.parametrize("turns", [-1, 0, 1, 5])
def test_more_turns_than_there_are_can_be_taken_back(turns):
    told = export(stored([Opened("s1"), *turn("first"), Undone(turns)]), "md")
    assert ("> first" in told) == (turns <= 0)


def test_a_branch_tells_what_it_was_branched_from_unless_that_is_told_already():
    call = ToolCall("c9", "terminal", '{"command": "ls"}')
    copied = (User("before"), Assistant("", (call,)), Observation("c9", "terminal", "a.txt"), Assistant("a file"))
    child = stored([Opened("s2", parent="s1", transcript=copied), *turn("after")], "s2", 1.8e9 + 100)
    parent = stored([Opened("s1"), *turn("before", "a file")])
    alone, both = export(child, "md"), export([*child, *parent], "md")
    assert "> before" in alone
    assert "a.txt" in alone
    assert "goes on from `s1`" in alone
    assert both.count("> before") == 1
    assert both.index("> before") < both.index("> after")
    assert "%%hermes\\nbefore" in export(child, "ipynb").replace('",\n    "', "")


def test_the_last_name_is_the_title_and_a_session_without_words_has_one_too():
    assert export(stored([Opened("s1"), Titled("a"), *turn("q"), Titled("b")]), "md").startswith("# b\n")
    assert export(stored([Opened("s1")]), "md").startswith("# Untitled session\n")


def test_a_skill_is_named_and_images_are_counted():
    told = export(
        stored([Opened("s1"), Asked("[Skill plots]\nlong\n[End of skill]\n\ndo", (Image("image/png", PIXEL),) * 2)]),
        "md",
    )
    assert "*with the skill `plots`*\n\n> do\n\n*with 2 images: image/png, image/png*" in told
    assert "long" not in told


def test_a_time_that_no_calendar_has_is_no_reason_to_lose_a_session():
    assert "at an unknown time" in export(stored(turn("q"), t=1e18), "md")


# --- pieces


def test_words_are_told_once_and_calls_stand_where_they_were_made():
    call = ToolCall("c1", "python", "{}")
    facts = [Replied("Let me ", finish=Finish.LENGTH), Replied("see.", (call, call)), Observed("c1", "1")]
    done = Final(Outcome.COMPLETED, "Done.")
    assert pieces([*facts, Replied("Done."), done]) == (
        Said("Let me see."), Used(call), Used(call, Observed("c1", "1")), Said("Done."),
    )  # fmt: skip
    assert pieces([*facts, done])[-1] == Said("Done.")
    assert pieces([Replied("Do"), Final(Outcome.INTERRUPTED, "Done and")]) == (Said("Done and"),)
    assert pieces([Replied("all of it"), Final(Outcome.COMPLETED, "of it")]) == (Said("all of it"),)
    assert pieces([Replied("half"), Interrupted(), Final(Outcome.INTERRUPTED, "")]) == (Said("half"),)


def test_a_cut_reply_counts_once_it_is_accepted():
    cut = Replied("half", cut=True)
    assert pieces([cut, Replied("whole")]) == (Said("whole"),)
    assert pieces([cut, Accepted()]) == (Said("half"),)
    assert pieces([Accepted(), Observed("nobody", "x")]) == ()


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("python", '{"code": "1 + 1"}', "```python\n1 + 1\n```"),
        ("python", '{"code": 1}', '```json\n{\n  "code": 1\n}\n```'),
        ("terminal", '{"command": "ls"}', '```json\n{\n  "command": "ls"\n}\n```'),
        ("terminal", "", "```json\n{}\n```"),
        ("terminal", '{"command', '```\n{"command\n```'),
        ("python", "[1]", "```json\n[\n  1\n]\n```"),
    ],
)
def test_arguments_are_code_where_they_are_code(name, given, shown):
    assert arguments(name, given) == shown


def test_a_name_that_holds_marks_is_no_code():
    assert span("a.ipynb") == "`a.ipynb`"
    assert span("a`b <i>") == "a&#96;b &lt;i&gt;"


# --- cells


@settings(max_examples=300, deadline=None)
@given(hostile)
@example("$$a @@b $5 $df.x['$y'] @\"a b\" ```\n$in\n```\n$out a@b.cz `@x")
def test_a_cell_sends_the_prompt_word_for_word(text):
    prompt = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    assert Prompt({"name": 1, "a": 2}, Path("/nowhere")).expand(literal(prompt)) == prompt


@pytest.mark.parametrize("prompt", ["%timeit what is this?", "%%bash", "!ls", "?df", "%"])
def test_a_prompt_that_ipython_would_take_is_asked_by_name(prompt):
    assert cell(prompt, "hermes") == "%%hermes\n" + prompt
    assert cell(prompt, "python3") == "%%hermes\n" + prompt


def test_in_the_kernel_a_cell_is_the_prompt_itself():
    assert cell("How many?", "hermes") == "How many?"
    assert cell("print?", "hermes") == "%%hermes\nprint?"


def test_the_account_of_the_cells_is_left_out_of_a_prompt():
    account = f"{CELLS}\nIn [1]:\nx = 1\n{END_OF_CELLS}"
    skill = "[Skill a]\nread me\n[End of skill]"
    assert asked(f"{account}\n\nand now?") == "and now?"
    assert asked(f"{skill}\n\n{account}\n\nand now?") == f"{skill}\n\nand now?"
    assert own_words(f"{skill}\n\n{skill}\n\n{account}\n\nand now?") == (("a", "a"), "and now?")


# --- notebooks


@settings(max_examples=60, deadline=None)
@given(hostile, hostile, hostile, st.sampled_from(sorted(KERNELS)))
@example("", "```![i](http://e/x.png)", "", "hermes")  # a fence at the beginning of a line is none in a heading
def test_a_notebook_is_valid_harmless_and_always_the_same(prompt, answer, result, kernel):
    facts = [Opened("s1"), Titled(answer), *turn(prompt, answer, result, result), *turn(answer)]
    made = export(stored(facts), "ipynb", kernel)
    notebook = nbformat.reads(made, as_version=4)
    nbformat.validate(notebook)
    assert made == export(reversed(stored(facts)), "ipynb", kernel)
    assert nbformat.writes(notebook) + "\n" == nbformat.writes(nbformat.from_dict(json.loads(made))) + "\n"
    for each in notebook.cells:
        if each.cell_type == "markdown":
            harmless(each.source)
        for output in each.get("outputs", ()):
            harmless(output.data["text/markdown"])


def test_run_all_asks_the_same_prompts_in_order_and_runs_no_python_twice():
    notebook = nbformat.reads(export(stored([Opened("s1"), *turn("first"), *turn("second")]), "ipynb"), as_version=4)
    code = [each.source for each in notebook.cells if each.cell_type == "code"]
    assert code == ["%load_ext magics", "%%hermes\nfirst", "%%hermes\nsecond"]
    assert [each.id for each in notebook.cells] == [
        "session-1", "session-1-load", "session-1-turn-1", "session-1-turn-1-tools", "session-1-turn-2",
        "session-1-turn-2-tools",
    ]  # fmt: skip
    assert notebook.cells[2].outputs[0].data["text/plain"].startswith("Three.\n\n✓ python  len(df)\n[completed")
    assert "len(df)" in notebook.cells[3].source
    assert notebook.metadata.kernelspec.name == "python3"


def test_in_the_kernel_hermes_nothing_is_loaded_and_a_second_session_begins_anew():
    one, two = stored([Opened("s1"), *turn("first")]), stored([Opened("s2"), *turn("second")], "s2", 1.9e9)
    notebook = nbformat.reads(export([*two, *one], "ipynb", "hermes"), as_version=4)
    assert [each.source for each in notebook.cells if each.cell_type == "code"] == ["first", "%hermes new", "second"]
    assert notebook.metadata.kernelspec.name == "hermes"


def test_images_are_shown_and_not_sent_again():
    images = (Image("image/png", PIXEL), Image("image/svg+xml", PIXEL), Image("image/png", "<not base64>"))
    notebook = nbformat.reads(export(stored([Opened("s1"), Asked("look", images)]), "ipynb"), as_version=4)
    nbformat.validate(notebook)
    note = notebook.cells[2]
    assert "with 3 images" in note.source
    assert "not sent again" in note.source
    assert note.source.count("attachment:") == 1
    assert note.attachments == {"image-1": {"image/png": PIXEL}}


def test_where_nothing_can_be_shown_of_an_image_it_is_named():
    notebook = nbformat.reads(export(stored([Asked("", (Image("image/png", "?"),))]), "ipynb"), as_version=4)
    nbformat.validate(notebook)
    assert [each.cell_type for each in notebook.cells] == ["markdown", "code", "markdown", "markdown"]
    assert "attachments" not in notebook.cells[2]


# --- lines


@settings(max_examples=100, deadline=None)
@given(hostile, hostile)
def test_lines_hold_every_record_whole(prompt, answer):
    records = stored([Opened("s1"), *turn(prompt, answer), Undone()])
    lines = export(reversed(records), "jsonl").split("\n")
    assert lines.pop() == ""
    read = [json.loads(line) for line in lines]
    assert [list(each) for each in read] == [["uid", "session", "n", "t", "fact"]] * len(records)
    assert [each["n"] for each in read] == list(range(len(records)))
    assert [load(each["fact"]) is not None for each in read] == [True] * len(records)
    if "\ud800" not in prompt + answer:
        assert [Record(**each) for each in read] == records


def test_facts_of_a_later_version_are_kept_and_passed_over():
    later = Record("u9", "s1", 9, 1.9e9, {"fact": "Dreamt", "of": "sheep"})
    records = [*stored([Opened("s1"), *turn("q")]), later]
    assert "Dreamt" in export(records, "jsonl")
    assert "Dreamt" not in export(records, "md")


@pytest.mark.parametrize("form", ["md", "jsonl", "ipynb"])
def test_secrets_are_taken_out_once_more(form):
    key = "sk-proj-" + "a1B2" * 10
    told = export(stored([Opened("s1"), Titled(key), *turn(key, key, key, json.dumps({"code": key}))]), form)
    assert key not in told
    assert "[redacted: API key]" in told.replace("&#91;", "[").replace("&#93;", "]")


def test_what_there_is_not_is_refused_by_name():
    with pytest.raises(ValueError, match="'pdf'; there are md, jsonl, ipynb"):
        export([], "pdf")
    with pytest.raises(ValueError, match="'julia'; there are python3, hermes"):
        export([], "ipynb", "julia")


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.md", "md"), ("b/A.IPYNB", "ipynb"), ("x.jsonl", "jsonl"), ("x.ndjson", "jsonl"), ("x.txt", ""), ("md", "")],
)
def test_a_files_name_says_its_format(name, form):
    assert format_of(name) == form


def compressed(summary: str) -> list[Record]:
    """A session that goes on from a compressed one: first turn, summary, the end of a turn, and a turn of its own."""
    transcript = (
        User("How many ducks?"),
        Assistant("Three."),
        summary_message(summary, 12),
        Assistant("So the geese left."),
        User("And the swans?"),
        Assistant("They stayed."),
    )
    return stored([Opened("s2", parent="s1", transcript=transcript), *turn("What now?")], "s2")


@settings(max_examples=100, deadline=None)
@given(hostile)
def test_a_summary_is_folded_harmless_and_nobodys_words(summary):
    told = export(compressed(summary), "md")
    harmless(told)
    assert "Summary of 12 earlier messages" in told
    assert "not an instruction" not in told
    assert told.count("**You**") == 3, "the summary is no prompt"
    order = [
        told.index(words) for words in ("How many ducks?", "Summary of 12", "So the geese left.", "And the swans?")
    ]
    assert order == sorted(order)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_a_notebook_does_not_ask_a_summary_again(kernel):
    made = nbformat.reads(export(compressed("- The gate's code is 4711."), "ipynb", kernel), as_version=4)
    asked_again = [cell.source for cell in made.cells if cell.cell_type == "code" and "load_ext" not in cell.source]
    assert [source.removeprefix("%%hermes\n") for source in asked_again] == [
        "How many ducks?", "And the swans?", "What now?",
    ]  # fmt: skip
    (summary,) = [cell for cell in made.cells if "4711" in cell.source]
    assert summary.cell_type == "markdown"
    assert "So the geese left." in summary.source


def test_a_session_that_only_goes_on_is_not_called_by_its_summary():
    only = stored([Opened("s2", parent="s1", transcript=(summary_message("ducks", 3), Assistant("Yes.")))], "s2")
    assert export(only, "md").startswith("# Untitled session")
