"""What a cell shows of a turn, as laws: pieces do not matter, passing events do not matter, hostile words stay words."""

from __future__ import annotations

import io
import re
import time
from contextlib import redirect_stderr, redirect_stdout
from functools import reduce
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.cli.terminal import WIPE, Paper
from hermes_kernel.core.events import (
    KEPT,
    Accepted,
    Approved,
    Asking,
    CallDelta,
    Calling,
    Failed,
    Final,
    Interrupted,
    Noticed,
    Observed,
    Outcome,
    Replied,
    Retracted,
    Retrying,
    Silence,
    Started,
    TextDelta,
    ThoughtDelta,
    Waiting,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.core.safe import DOLLAR
from hermes_kernel.view import (
    WITHDRAWN,
    Layout,
    Picture,
    cost_line,
    grow,
    heading_html,
    heading_plain,
    sanitise,
    see,
    status_line,
    still,
)
from hermes_kernel.view.turn.blocks import ITEM
from hermes_kernel.view.turn.words import in_brief
from magics.painting.painter import Scroll

LINES = st.sampled_from(
    [
        "",
        "",
        "words",
        "more words",
        "- item",
        "  under it",
        "1. first",
        "```python",
        "```",
        "~~~",
        "| a | b |",
        "|---|---|",
        "> quote",
        "# head",
        "    code",
        "$$",
        "$$x$$",
    ]
)
MARKDOWN = st.lists(LINES, max_size=30).map("\n".join)


def pieces(text: str, cuts: list[int]) -> list[str]:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[a:b] for a, b in pairwise(ends)]


def laid(parts: list[str]) -> Layout:
    return reduce(grow, parts, Layout())


def seen(events: list[object], limit: int = 90) -> Picture:
    return reduce(see, events, Picture(limit))


@given(MARKDOWN, st.lists(st.integers(0, 300)))
def test_blocks_do_not_depend_on_how_the_text_arrived(text, cuts):
    whole, cut = laid([text]), laid(pieces(text, cuts))
    assert (whole.blocks, whole.tail) == (cut.blocks, cut.tail)
    assert "".join(cut.blocks) + cut.tail == text == cut.text


@given(MARKDOWN)
def test_no_block_ends_inside_a_fence_a_table_or_a_list(text):
    layout = laid([text])
    parts = [*layout.blocks, layout.tail]
    for block, after in pairwise(parts):
        fence = ""
        for line in block.splitlines():
            words = line.strip()
            if not fence and (words.startswith(("```", "~~~")) or (words.startswith("$$") and words.count("$$") == 1)):
                fence = words[:2] if words.startswith("$$") else words[:3]
            elif fence and (words == fence or (fence == "$$" and "$$" in words)):
                fence = ""
        assert not fence, "a fence is open at the border"
        assert block.endswith("\n\n") or not block.splitlines()[-1].strip(), "a border without an empty line"
        first = ITEM.match(block.splitlines()[0])
        assert not (first and (ITEM.match(after.splitlines()[0]) or after[:1] in " \t")), "a list is cut in two"


CALL = (ToolCall("c", "python", "{}"),)
PARAGRAPHS = st.lists(st.sampled_from(["a", "b a", "ab\nba"]), max_size=5).map("\n\n".join)
WORDS = st.text(alphabet="ab \n`<-", max_size=30) | PARAGRAPHS


@st.composite
def turns(draw) -> tuple[list[object], list[object]]:
    """Two tellings of one turn: with everything that passes, and only what is kept."""
    full: list[object] = []
    kept: list[object] = []

    def tell(*events: object) -> None:
        full.extend(events)
        kept.extend(event for event in events if isinstance(event, KEPT))

    run = ""
    for n in range(draw(st.integers(1, 4))):
        text = draw(WORDS)
        if draw(st.booleans()):
            gone = draw(WORDS)
            tell(Calling("m", "e"), TextDelta(gone), ThoughtDelta("hm"), Failed(Fault.DISCONNECT, "lost", partial=gone))
            tell(Retrying(1, 3, 5.0, Fault.DISCONNECT), Waiting(4.0), Noticed("a parameter was swapped"), Retracted())
        tell(Calling("m", "e"), Silence(3.0, 90.0, "stream"), ThoughtDelta("why"))
        tell(*(TextDelta(part) for part in pieces(text, draw(st.lists(st.integers(0, 30), max_size=4)))))
        calls = (ToolCall(f"c{n}", "python", '{"code": "1+1"}'),) if draw(st.booleans()) else ()
        cut = draw(st.booleans())
        reply = Replied(
            text, calls, Finish.TOOL_CALLS if calls else Finish.LENGTH, cut=cut, thoughts="why", usage=Usage(1, 5, 7)
        )
        tell(CallDelta("python", 12), reply, *([Accepted()] if cut else []))
        run = "" if calls else run + text
        for call in calls:
            tell(
                Asking(call.id, "may I?"),
                Approved(call.id, allowed=True, by="person"),
                Started(call.id),
                Observed(call.id, "2", seconds=0.2),
            )
    if draw(st.booleans()):
        partial = draw(WORDS)
        tell(TextDelta(partial), Interrupted("person", partial))
        run += partial
    tell(Final(Outcome.COMPLETED if run else Outcome.EMPTY, run))
    return full, kept


@pytest.mark.no_cover
@given(turns())
def test_the_final_picture_is_the_same_with_and_without_passing_events(turn):
    full, kept = turn
    assert seen(full) == seen(kept)
    assert still(seen(full)) == still(seen(kept))


@given(turns())
def test_the_last_words_of_the_picture_are_the_text_of_the_turn(turn):
    picture = seen(turn[0])
    assert picture.text.rstrip().endswith(turn[0][-1].text.rstrip())
    assert "".join(picture.blocks) + picture.tail == picture.text


class Screen(io.StringIO):
    """A terminal, and what stands on it in the end."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        return [line.rpartition(WIPE)[2] for line in self.getvalue().split("\n")]


def told(events: list[object], out: io.StringIO, *, doing: bool) -> None:
    with redirect_stdout(out), redirect_stderr(out):
        paper = Paper(Picture(90), answer=True, doing=doing)
        for event in events:
            paper.see(event)
        paper.end()


def squeezed(text: str) -> str:
    """Its words, whatever stands between them."""
    return "".join(text.split())


def once(shown: str, events: list[object], mark: str) -> None:
    """Below the last `mark` there is the answer, once, and nothing else than what the picture has."""
    *gone, last = shown.split(mark)
    text = squeezed(seen(events).text)
    assert len(gone) <= events.count(Retracted())
    assert squeezed(last) == text if not gone else text.endswith(squeezed(last))
    assert squeezed(last).endswith(squeezed(events[-1].text))


@pytest.mark.no_cover
@given(turns())
def test_a_terminal_shows_the_answer_once_below_what_was_withdrawn(turn):
    screen, bare = Screen(), Screen()
    told(turn[0], screen, doing=True)
    told(turn[0], bare, doing=False)
    shown = "\n".join(line for line in screen.lines() if not line.startswith(("✓", "[")))
    once(shown, turn[0], f"{WITHDRAWN}\n")
    assert squeezed(bare.getvalue()) == squeezed(shown.replace(WITHDRAWN, ""))
    assert WIPE not in bare.getvalue()


@given(turns())
def test_a_console_shows_the_answer_once_below_what_was_withdrawn(turn):
    out = io.StringIO()
    with redirect_stdout(out):
        scroll = Scroll(Picture(90))
        for event in turn[0]:
            scroll.show(event)
        scroll.close()
    shown = out.getvalue().removesuffix(f"{heading_plain(seen(turn[0]))}\n")
    assert shown != out.getvalue()
    once(shown, turn[0], f"[{WITHDRAWN}]\n")


@given(turns())
def test_a_pipe_gets_what_stands_in_the_end_and_nothing_else(turn):
    pipe = io.StringIO()
    told(turn[0], pipe, doing=True)
    assert pipe.getvalue().rstrip() == seen(turn[0]).text.rstrip()


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ([TextDelta("Hello wor"), Retracted(), TextDelta("Hello world.")], "Hello wor\nHello world.\n"),
        ([TextDelta("One.\n"), Retracted(), TextDelta("Two.")], "One.\nTwo.\n"),
        (
            [
                TextDelta("It is "),
                Replied("It is ", finish=Finish.LENGTH),
                TextDelta("12"),
                Retracted(),
                TextDelta("13"),
            ],
            "It is 12\nIt is 13\n",
        ),
        (
            [TextDelta("I look."), Replied("I look.", CALL), TextDelta("No"), Retracted(), TextDelta("Yes")],
            "I look.\n\nNo\nYes\n",
        ),
    ],
)
def test_what_was_withdrawn_is_on_a_line_of_its_own_at_a_terminal_where_nothing_but_the_answer_is_told(events, shown):
    screen = Screen()
    told(events, screen, doing=False)
    assert screen.getvalue() == shown


def test_a_withdrawn_reply_leaves_nothing_and_finished_tools_stay():
    call = ToolCall("c", "terminal", '{"command": "ls"}')
    events = [
        Replied("Looking.", (call,)),
        Started("c"),
        Observed("c", "a.py"),
        TextDelta("Wro"),
        TextDelta("ng\n\nway"),
        Retracted(),
        TextDelta("Right"),
    ]
    picture = seen(events)
    assert picture.text == "Looking.\n\nRight"
    assert [row.state for row in picture.rows] == ["ok"]


def test_a_reply_that_was_cut_stands_until_the_next_attempt_replaces_it():
    cut = Replied("Let me", (ToolCall("c", "python", '{"co', flaw="cut off"),), Finish.LENGTH, cut=True)
    assert seen([cut]).text == "Let me"
    assert seen([cut]).rows == ()
    assert seen([cut, Replied("Let me see.", (ToolCall("c", "python", "{}"),))]).text == "Let me see.\n\n"
    assert [row.name for row in seen([cut, Accepted()]).rows] == ["python"]


def test_answers_that_were_continued_have_no_seam():
    events = [
        TextDelta("one tw"),
        Replied("one tw", finish=Finish.LENGTH),
        TextDelta("o"),
        Replied("o"),
        Final(Outcome.COMPLETED, "one two"),
    ]
    assert seen(events).text == "one two"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Calling("m", "e"), "thinking 7 s"),
        (Silence(4.2, 90.0, "stream"), "silent 4 of 90 s"),
        (Silence(30.0, 600.0, "queued"), "queued by the provider 30 s"),
        (Silence(31.0, 180.0, "first_byte"), "no answer yet 31 of 180 s"),
        (Retrying(2, 3, 9.7, Fault.RATE_LIMIT), "retry 2 of 3 in 10 s (rate limit)"),
        (CallDelta("write_file", 4200), "writing a call of `write_file`, 4,200 characters"),
        (Asking("c", "sure?"), "waiting for you"),
        (TextDelta("x"), "writing"),
    ],
)
def test_the_status_says_what_is_going_on(event, line):
    assert status_line(seen([event]), 7.4) == line


def test_the_status_names_the_tools_that_run():
    calls = (ToolCall("1", "python", "{}"), ToolCall("2", "terminal", "{}"))
    both = [Replied("", calls), Started("1"), Started("2")]
    assert status_line(seen(both), 2) == "2 tools: python, terminal 2 s"
    assert status_line(seen([*both, Observed("1", "")]), 2) == "tool `terminal` 2 s"


def test_the_done_line_counts_calls_without_the_grace_call_and_marks_estimates():
    spent = [
        Replied("a", usage=Usage(1, 10, 5)),
        Replied("b", usage=Usage(1, 10, 5, estimated=True)),
        Replied("c", usage=Usage(1, 10, 5)),
    ]
    picture = seen([*spent, Final(Outcome.BUDGET_EXHAUSTED, "c")], limit=2)
    assert heading_plain(picture) == "[budget exhausted · 2 of 2 calls]"
    assert cost_line(picture, 1.26) == "budget exhausted · 2 of 2 calls · about 45 tokens · 1.3 s"


def test_text_of_a_finished_turn_holds_no_time_and_no_address():
    call = ToolCall("call_0x7f", "python", '{"code": "df"}')
    told = [
        Replied("", (call,)),
        Started("call_0x7f"),
        Observed("call_0x7f", "<object at 0x7f00>", seconds=1.25),
        Replied("Done."),
        Final(Outcome.COMPLETED, "Done."),
    ]
    assert still(seen(told))["text/plain"] == "Done.\n\n✓ python  df\n[completed · 2 of 90 calls · 1 tool]"
    assert "1.2 s" not in "".join(still(seen(told)).values())


# --- hostile words ----------------------------------------------------------------------------------------------------

OURS = {"div", "span", "details", "summary", "code", "pre"}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(html)
    return parser.found


HOSTILE = st.lists(
    st.sampled_from(
        [
            *"<>\"'&/=a![]()`\n\\: |~-",
            "script",
            "<img src=x onerror=alert(1)>",
            "javascript:",
            "```",
            "<!--",
            "\x1b[2J",
            "$",
            "\0",
        ]
    ),
    max_size=40,
).map("".join)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_words_of_anybody_become_html_in_the_heading(name, arguments, notice):
    call = ToolCall("c", name, arguments)
    events = [Replied(notice, (call,), thoughts=notice), Started("c"), Noticed(notice)]
    for html in (heading_html(seen(events), 1.0), heading_html(seen([*events, Final(Outcome.REFUSED, "", notice)]))):
        assert {tag for tag, _ in tags(html)} <= OURS
        assert not [key for _, attributes in tags(html) for key in attributes if key.startswith("on")]
        assert "\x1b" not in html


@example("<$$/")
@given(HOSTILE)
def test_outside_a_fence_no_tag_but_a_code_span_is_left_in_markdown(text):
    prose, fence = [], ""
    for line in sanitise(text).split("\n"):
        opening = re.match(r"(`{3,}|~{3,})", line)
        if fence:
            fence = "" if line.startswith(fence) and not line.strip(fence[0]) else fence
        elif opening and not (opening[1][0] == "`" and "`" in line[len(opening[1]) :]):
            fence = opening[1]
        else:
            prose.append(line)
    assert not fence
    assert not re.search(r"<(?!/?(?:code|pre)>)[A-Za-z/!?]", "\n".join(prose).replace(DOLLAR, "$"))


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("a < b and c<d", "a < b and c&lt;d"),
        ("`<b>` is bold", "<code>&lt;b&gt;</code> is bold"),
        ("`a < b`", "`a < b`"),
        ("```html\n<b>hi</b>\n```", "```html\n<b>hi</b>\n```"),
        ("```html\n<b>hi</b>", "```html\n<b>hi</b>\n```"),
        ("1. x\n   ```html\n   <b>\n   ```", "1. x\n   <pre><code>&lt;b&gt;\n   </code></pre>"),
        ("[x](https://a.b/c)", "[x](https://a.b/c)"),
        ("[x](mailto:a@b.c)", "[x](mailto:a@b.c)"),
        ("[x](javascript:alert(1))", "[x]\\(javascript:alert(1))"),
        ("[x](java&#115;cript:alert(1))", "[x]\\(java&#115;cript:alert(1))"),
        ("[x](\n javascript:alert(1))", "[x]\\(\n javascript:alert(1))"),
        ("[x](data:text/html,a)", "[x]\\(data:text/html,a)"),
        ("![pixel](https://spy.net/p.png)", "image: [pixel](https://spy.net/p.png)"),
        ("[a]: javascript:alert(1)", "\\[a]: javascript:alert(1)"),
        ("<https://a.b>", "https://a.b"),
        ("| `|<img src=x>` |", "| <code>|&lt;img src=x&gt;</code> |"),
        ("[x](u`) <img src=x onerror=a>`", "[x]\\(u<code>) &lt;img src=x onerror=a&gt;</code>"),
        ("\x1b[31mred\x07", "[31mred"),
        ("Tea is $5, or \\$6 a pot.", "Tea is D5, or D6 a pot."),
        ("It costs $5.", "It costs $5."),
        ("From $20,000 to $30,000.", "From D20,000 to D30,000."),
        ("$E = mc^2$ and $a$, for $5", "$E = mc^2$ and $a$, for D5"),
        ("$$\nx^2 + 1\n$$\n\n$3 and $4", "$$\nx^2 + 1\n$$\n\nD3 and D4"),
        ("`$a` and $b and [x](https://a.b/?c=$d&e=$f) $ c", "`$a` and Db and [x](https://a.b/?c=$d&e=$f) D c"),
    ],
)
def test_markdown_is_shown_as_words_and_code_and_plain_links(markdown, shown):
    assert sanitise(markdown) == re.sub(r"D(?=\d|b | c)", DOLLAR, shown)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ('{"code": "import os\\nprint(os)"}', "import os print(os)"),
        ('{"path": "a.txt", "lines": 3}', "path=a.txt, lines=3"),
        ("{}", ""),
        ("not json", "not json"),
        ("[1, 2]", "[1, 2]"),
        (
            '{"tasks": [{"task": "Count the ducks.", "name": "ducks"}, {"task": "Geese?"}, "swans", {}]}',
            "ducks · Geese? · swans · {}",
        ),
        ('{"question": "Which?", "choices": ["old", "new"]}', "question=Which?, choices=old · new"),
        ('{"a": ' + '[{"a": ' * 400 + "1" + "}]" * 400 + "}", ('[{"a": ' * 20)[:87] + "…"),
        ('{"tasks": [{}], "all": true}', "tasks=[{}], all=true"),
    ],
)
def test_a_call_is_told_on_one_line(arguments, line):
    assert in_brief(arguments) == line


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece",
    [
        "](",
        "](<",
        "](http:",
        "[",
        "![",
        "<",
        "<http://",
        "`",
        "`a",
        "` `` ",
        "\n[",
        "\n> ",
        "\n```\n",
        "&",
        "\\",
        "**",
        "- ",
        "$",
        "$a ",
        "$$a",
        "$a](",
    ],
)
def test_markdown_is_made_harmless_in_linear_time(piece):
    """Both sizes are far above the timer's grain; quadratic time would be a factor of eight on top."""
    small, large = (piece * (size // len(piece)) for size in (20_000, 160_000))
    assert _seconds(large) < 8 * 4 * max(_seconds(small), 0.02)


def _seconds(text: str) -> float:
    before = time.process_time()
    sanitise(text)
    return time.process_time() - before
