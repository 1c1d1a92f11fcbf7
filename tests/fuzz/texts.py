"""What people and models write: times, searches, commands, options, skills, memory, patches, Markdown; and secrets in it."""

from __future__ import annotations

import json
import string
from datetime import UTC
from html.parser import HTMLParser
from itertools import islice, pairwise
from zoneinfo import ZoneInfo, available_timezones

from markdown_it import MarkdownIt

from hermes_kernel.core.learning.memory import MemoryRefused
from hermes_kernel.core.learning.memory_text import read as read_memory
from hermes_kernel.core.learning.memory_text import tidied
from hermes_kernel.core.learning.patch_diffs import hunks
from hermes_kernel.core.learning.patching import NoPatch, patched
from hermes_kernel.core.learning.skill_front import DESCRIPTION, Front, Refused, Unread, front
from hermes_kernel.core.learning.threats import threats
from hermes_kernel.core.plain import load
from hermes_kernel.core.recording.reading import Unreadable, read
from hermes_kernel.core.redact import redact, redact_plain
from hermes_kernel.core.safe import sanitise
from hermes_kernel.core.schedule.grammar import parse, stored, text
from hermes_kernel.core.schedule.instants import upcoming
from hermes_kernel.core.schedule.saying import moment, sentence
from hermes_kernel.core.schedule.when import At, ScheduleError
from hermes_kernel.core.search.query import QueryError
from hermes_kernel.core.search.query import parse as parse_query
from hermes_kernel.core.search.snippet import snippet
from hermes_kernel.core.turn import recall
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.skills.reading import understood
from hermes_kernel.view.rendered import markdown_html
from hermes_kernel.world.tools.danger import shell_risk
from hermes_kernel.world.tools.danger_python import python_risk
from hermes_kernel.world.tools.edits import NoPlace, edited
from magics.hermes import rewrite
from magics.options import parse as parse_options
from magics.options import split
from tests.fuzz.target import Grain, one_or_two_lines, said, target

ZONES = sorted(available_timezones() - {"localtime", "Factory"})
FARTHEST = 253_402_300_800.0


@target("every monday at 09:00", "in 30m", "*/5 9-17 * * mon-fri", "2026-03-29 02:30 Europe/Zurich", "@daily", "0 0 29 2 *",
        "first friday of the month at 9:30pm", "every 2h", "tomorrow at noon", "tz=Asia/Tokyo 0 9 * * *", "9999-12-31 23:59",
        words="every in at on the of and weekday last 1st monday january noon midnight 9 30 09:00 :30 am pm * */2 1-5 L # ? @hourly "
        "2026-10-25 02:30 +14:00 z utc+1 in Europe/Zurich America/New_York next this once h m d w 999999 0 - , .")  # fmt: skip
def schedules(data: bytes) -> None:
    """A text is a schedule whose instants come one after the other, in its zone, or one clear error with what would do."""
    grain = Grain(data[:3])
    zone = ZONES[(grain.number(255) * 256 + grain.number(255)) % len(ZONES)]
    now = float((0, 1_743_296_400, 1_761_440_400, 1_800_000_000, 4_000_000_000, 250_000_000_000)[grain.number(5)])
    line = said(data[grain.number(3) :])
    try:
        timed = parse(line, now=now, zone=zone)
    except ScheduleError as error:
        one_or_two_lines(error)
        for near in error.near:
            parse(near, now=now, zone=zone)
        return
    assert stored(text(timed.when), timed.zone) == timed or isinstance(timed.when, At)
    times = tuple(islice(upcoming(timed, now=now), 3))
    assert all(now < t for t in times)
    assert all(a < b for a, b in pairwise(times))
    ZoneInfo(timed.zone)
    for t in times:
        assert moment(t, timed.zone)
    assert "\n" not in sentence(timed)


@target("alpha beta", '"of the" -not', "role:user after:2026-01-01", "foo* OR bar", "before:7d tool:python", '"unclosed', "桂林 không",
        words='" * - OR role: tool: notebook: model: session: after: before: user 2026 7d today 0001-01-01 9999-99-99 a the _')  # fmt: skip
def queries(data: bytes) -> None:
    """A search is understood, within bounds, or one clear error; a piece of any text is shown for it."""
    line = said(data)
    try:
        query = parse_query(line, now=1.8e9, zone=UTC)
    except QueryError as error:
        one_or_two_lines(error)
        return
    assert sum(map(len, query.clauses)) + len(query.without) <= 64
    shown = snippet(line, query)
    assert len(shown.text) <= 400


@target("---\nname: a\ndescription: b\n---\nBody", "---\nname: |\n  x\ntags: [a, b]\n...\n", "---\na: &x [*x]\n---\n",
        "\ufeff---\r\nname: 'it''s'\r\n---\r\n", '---\ndescription: "a\\x41\\\n  b" # c\n---\n', "---\nmetadata:\n  tags:\n    - x\n---\n",
        words="--- ... name: description: tags: metadata: & * ! !!python/object << ? | > |- # [ ] { } , ' \" \\ - ~ null &a *a")  # fmt: skip
def skill_md(data: bytes) -> None:
    """Any bytes are a skill or why they are none, in a line; its description is one, and what we write we read."""
    content = understood(data)
    assert "\n" not in content.why
    try:
        found = front(said(data))
    except (Refused, Unread) as error:
        assert "\n" not in str(error) or isinstance(error, Unread)
        return
    for line in (found.name, found.description, *found.tags):
        assert len(line.splitlines()) <= 1 or not line.isprintable()
    assert len(found.description) <= DESCRIPTION
    written = f"---\nname: {json.dumps(found.name)}\ndescription: {json.dumps(found.description)}\n---\n{found.body}"
    again = front(written)
    assert isinstance(again, Front)
    threats(said(data[:2_000]))


@target("one\ntwo\n\0two\0deux", "  if a:\n    b\n\0if a:\n  b\0c", "a\r\nb\0a\nb\0x", "@@ -1,2 +1,2 @@\n a\n-b\n+c\0a\nb\n\0",
        words="\\n \\t @@ + - ' \" ‘ ’ — a b")  # fmt: skip
def patches(data: bytes) -> None:
    """What is patched differs in the places that are told and nowhere else; else one clear error."""
    text, old, new = ([*said(data).split("\x00"), "", ""])[:3]
    try:
        made = patched(text, old, new)
    except NoPatch as error:
        assert str(error).strip()
    else:
        at, kept = 0, []
        for start, end, instead in made.places:
            kept += [text[at:start], instead]
            at = end
        assert "".join([*kept, text[at:]]) == made.text
    for change in (lambda: edited(text, old, new), lambda: hunks(old)):
        try:
            change()
        except (NoPlace, NoPatch) as error:
            assert str(error).strip()


@target("One thing.\n§\nAnother\n", "\ufeffx\r\n§\r\ny", "§\n§\n", words="§ \\n#  - [redacted")
def memory_files(data: bytes) -> None:
    """Any bytes are entries; what a tidied text holds is what is read of it again."""
    entries = tuple(entry for each in read_memory(data).entries if (entry := each.strip("\ufeff" + string.whitespace)))
    for entry in entries:
        entry.encode()
    again = read_memory("\n§\n".join(entries).encode()).entries
    assert again == entries
    for entry in entries:
        try:
            made = tidied(entry).text
            assert read_memory(made.encode()).entries == ((made,) if made else ())
        except MemoryRefused as error:
            one_or_two_lines(error)


@target('{"hermes_cassette": 1, "python": "3.11"}\n{"request": {"model": "m", "messages": []}, "key": "x"}\n', "{}\n", "[1]\n",
        words='{"hermes_cassette": "request": "messages": "blocks": "call": "same": "tools": null 1 -1 [] {} "t": "data": true')  # fmt: skip
def cassettes(data: bytes) -> None:
    """A recording is read or one clear error says in which line it is none."""
    try:
        read(data)
    except Unreadable as error:
        one_or_two_lines(error)


class Page(HTMLParser):
    """The tags and attributes that a browser sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


MARKS = frozenset(
    [
        "a",
        "p",
        "em",
        "strong",
        "code",
        "pre",
        "ul",
        "ol",
        "li",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "br",
        "blockquote",
        "div",
        "s",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ]
)
OURS = frozenset({"href", "rel", "target", "class", "style", "start"})


@target("# a *b* `c`\n\n- [x](http://a.b)\n", "<script>alert(1)</script>", "[a](javascript:x)", "![i](data:image/svg+xml,<svg/onload=x>)",
        "| a | b |\n|-|-|\n| <b> | `` ` `` |", "```html\n<img src=x onerror=y>\n```", "$$<img>$$ \\(x\\)", "[a]: //x 'y'\n[a]",
        words="< > & \" ' ` ``` ~~~ * _ [ ]( ) ! <img <a/onclick= <!-- --> <![CDATA[ &#x3c; &lt; javascript: http:// \\ | $ $$ \\( > - 1. # onerror= \x00")  # fmt: skip
def markdown(data: bytes) -> None:
    """No tag and no attribute is on the page but those of Markdown, and every address goes to the web or to mail."""
    page = Page()
    page.feed(markdown_html(data.decode("utf-8", "replace")))
    page.close()
    for tag, attributes in page.tags:
        assert tag in MARKS, tag
        assert set(attributes) <= OURS, (tag, attributes)
        assert (attributes.get("href") or "http:").lower().startswith(("http:", "https:", "mailto:")), attributes
    loose = Page()
    loose.feed(LOOSE.render(sanitise(data.decode("utf-8", "replace"))))
    for tag, attributes in loose.tags:
        assert tag in MARKS | {"span"}, tag
        assert set(attributes) <= OURS | {"title"}, (tag, attributes)
        assert (attributes.get("href") or "http:").lower().startswith(("http:", "https:", "mailto:", "#")), attributes


LOOSE = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])  # as front ends set it

SECRET = "hunter2-Tr0ub4dor&3"


@target("a sk-proj-abcdefghij0123456789ABCD b", "password = 'hunter22x'", "https://u:pa55word@h/x", '{"api_key": "abcd1234efgh"}',
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnopqrstuvwxyz0123456789ABCD\n-----END RSA PRIVATE KEY-----",
        words="sk- sk-proj- ghp_ AKIA eyJ Bearer password api_key : = ' \" \\n [redacted: https:// @ ://u: {\" } -----BEGIN")  # fmt: skip
def secrets(data: bytes) -> None:
    """A known secret survives in no text, twice is once, and a fact has the shape it had."""
    text = said(data)
    at = len(text) // 2
    safe = redact(f"{text[:at]} {SECRET} {text[at:]}", frozenset({SECRET}))
    assert SECRET not in safe
    once = redact(text)
    assert redact(once) == once
    plain = {"fact": "asked", "prompt": text, "inside": [json.dumps({"x": text}), {"deep": SECRET}]}
    found = redact_plain(plain, frozenset({SECRET}))
    assert found.keys() == plain.keys()
    assert SECRET not in json.dumps(found)


@target("rm -rf /", "echo $(curl x | sh) && sudo true", "cat <<'E'\nrm -rf ~\nE\n", "!rm -rf x\nimport os; os.system('x')", "%%bash\nls",
        'a=b; eval "$(x)"', "exec('rm')",
        words="rm -rf / ~ sudo | || && ; & > >> < <<E $( ) ` \" ' \\ \\n { } ( curl sh bash -c eval exec( os.system( subprocess. !ls %sx = find -delete dd of=/dev/sda")  # fmt: skip
def danger(data: bytes) -> None:
    """Any text of a command or of code is judged, and the judgement is a line."""
    line = said(data)
    for judge in (shell_risk, python_risk):
        risk = judge(line)
        assert risk is None or (risk.why.strip() and len(risk.why) < 2_000), risk


@target("--model m --budget 3 what is", '--skill "a b" --as x', "--timeout 1e3", "--schedule 'every 2h' x", "%%hermes --quiet\nhi",
        "%hermes status?", "%hermes compress now",
        words="-- --model --budget --as --tools --timeout --map --workers --again --plain = ' \" none nan inf 1e9 ١ x, %hermes %%hermes ? \\ \\n")  # fmt: skip
def option_lines(data: bytes) -> None:
    """A line of options is read, or one clear error; a cell that is rewritten is Python with the words in it."""
    line = said(data)
    for reader in (parse_options, split):
        try:
            reader(line)
        except HermesError as error:
            one_or_two_lines(error)
    lines = line.splitlines(keepends=True)
    made = rewrite(lines)
    if made is not lines:
        compile("".join(made), "cell", "exec", flags=0x2000)  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


@target('{"fact": "asked", "prompt": "x"}\n{"fact": "replied", "text": "y", "calls": [{"id": "c", "name": "n", "arguments": "{}"}]}',
        '{"fact":"opened","session_id":"s","system":"x","model":"m"}', '{"fact":"final","outcome":"completed","text":""}',
        words='{"fact": "asked" "replied" "observed" "final" "compressed" "undone" "calls": "usage": "outcome": null 1 -1 [] {} "id" "c" true')  # fmt: skip
def facts(data: bytes) -> None:
    """A fact of whatever shape is one, or none, or a `ValueError`; those that are one fold into a turn."""
    events = []
    for line in data.split(b"\n"):
        try:
            plain = json.loads(line)
            event = load(plain) if isinstance(plain, dict) else None
        except (ValueError, RecursionError):
            continue
        if event is not None:
            events.append(event)
    recall(events)
