"""Searches with known answers: every log finds exactly these messages, folded or not, indexed or not."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from hermes_kernel.core.events import Asked, Undone
from hermes_kernel.core.search.finding import HITS
from hermes_kernel.core.search.found import Found
from hermes_kernel.core.search.query import parse
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.sayings import ALL, NAMES, NOW, ROOTS, At, tell
from tests.contracts.stores import child, counted, done

ENOUGH = 50  # threads, which is more than there are


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


ANSWERS: dict[str, str] = {
    # words
    "marmalade": "undone.keep undone.kept undone.idea branch.glasses",
    "MarmaLADE": "undone.keep undone.kept undone.idea branch.glasses",
    "zeppelin": "",  # in a system prompt, thoughts, a digest, a cut reply, a lost one, what was undone, what was copied
    "heron": "birds.poem",
    "recipe kept": "undone.kept",
    "kept recipe": "undone.kept",
    "giraffes": "short.before short.counted short.last",
    "okapis": "",
    "flew": "birds.stopped",
    "sto": "",
    "egret": "birds.cut",
    "the question": "common.hamlet",
    "amend": "git.ask git.call git.result git.answer",
    # phrases
    '"to be"': "common.hamlet",
    '"of the"': "common.end common.title",
    '"the end"': "common.end common.title",
    '"end of the day"': "common.end",
    '"it was"': "common.times",
    '"it is"': "common.end",
    '"is what it is"': "common.end",
    '"that is the question"': "common.hamlet",
    '"be or"': "common.hamlet",
    '"or not"': "common.hamlet branch.glasses",
    '"nothing to amend"': "git.result git.answer",
    '"amend nothing"': "",
    "“of the”": "common.end common.title",
    '"of the" "end of"': "common.end",
    '"question': "common.hamlet",
    # beginnings
    "giraf*": "short.before short.counted short.last",
    "heron*": "birds.ask birds.poem",
    '"marmalade rec*"': "undone.keep undone.kept",
    "marmalade.rec*": "undone.keep undone.kept",
    '"the reci*"': "",
    "feat*": "git.head git.answer",
    "1900*": "cjk.guilin",
    "snake_*": "code.async",
    "берез*": "world.russian",
    "JIRA-1234*": "git.head git.answer",
    # not
    "marmalade -recipe": "undone.idea branch.glasses",
    'marmalade -"or not"': "undone.keep undone.kept undone.idea",
    "marmalade -rec*": "undone.idea branch.glasses",
    "-numpy role:user notebook:debug": "code.ask code.windows release.bindings",
    # OR
    "herons OR storks": "birds.ask birds.again",
    "marmalade jars OR idea OR glasses": "undone.idea branch.glasses",
    "okapis OR giraffes -seven": "short.before short.last",
    '"to be" OR "of the" role:title': "common.title",
    # filters
    "role:title": "sales.title undone.title common.title",
    "-role:user -role:assistant -role:tool": "sales.title undone.title common.title",
    "role:tool": "sales.result code.result git.result git.head",
    "tool:terminal": "git.result",
    "role:tool -tool:python": "code.result git.result git.head",
    "tool:terminal tool:READ_FILE": "git.result git.head",
    "notebook:kitchen role:user": "undone.keep undone.idea branch.glasses",
    'notebook:"q3 bericht" müller': "sales.result sales.answer",
    "notebook:umsatz/ kunden": "sales.ask sales.title",
    "model:sonnet numpy": "release.upgrade",
    "marmalade -model:qwen": "",
    "model:gpt-oss -notebook:viet role:user": "world.czech world.greek world.thai world.arabic",
    "session:git-0010 amend": "git.ask git.call git.result git.answer",
    "session:git amend role:user": "git.ask",
    "amend -session:git": "",
    "after:2026-11-10 giraffes": "short.before short.counted short.last",
    "before:2026-04 -role:tool": "sales.ask sales.call sales.answer sales.title",
    "after:2026-04-01 before:2026-04-02": "viet.ask viet.answer",
    "after:2026-04-01T12:00:00Z before:2026-04-01T12:00:01Z": "viet.ask viet.answer",
    "after:yesterday giraffes": "short.before short.counted short.last",
    "after:25h giraffes": "short.before short.counted short.last",
    "after:23h giraffes": "",
    "after:today": "",
    "before:2026": "",
    "marmalade role:user notebook:kitchen after:2026-08-02 before:2026-08-03 model:qwen -jars": "branch.glasses",
    # punctuation is plain text
    "what's": "release.bindings",
    "what s": "release.bindings",
    "don't": "release.panic",
    "doesn't compile": "release.panic",
    "C++": "viet.answer code.windows release.bindings",
    "C#": "viet.answer code.windows release.bindings",
    "#release": "release.upgrade release.mail",
    "50%": "release.mail",
    "a|b": "release.bindings",
    "`foo`": "release.bindings",
    '"ls -la"': "release.bindings",
    "--no-backup": "code.windows",
    "$1,000,000": "release.mail",
    "<b>bold</b>": "release.bindings",
    "issue #42": "release.panic",
    "(self,": "code.result code.answer",
    "error:C2065": "release.panic",
    "???": "",
    "-> *": "",
    "panic!": "release.panic",
    "Ermou; DROP TABLE facts": "",
    # Vietnamese
    "nhiệt độ": "viet.ask viet.answer",
    "nhiet do": "viet.ask viet.answer",
    "NHIỆT ĐỘ": "viet.ask viet.answer",
    '"da nang"': "viet.ask viet.answer",
    nfd("Đà Nẵng"): "viet.ask viet.answer",
    "thang bay": "viet.ask",
    '"trung bình ở Hà Nội"': "viet.answer",
    # Czech, German, Polish, Turkish, Greek, Russian, Danish
    "zlutoucky kun": "world.czech",
    "PŘÍLIŠ": "world.czech",
    "ďábelské ódy": "world.czech",
    "strasse": "sales.answer",
    "STRASSE": "sales.answer",
    "grössten": "sales.ask sales.answer",
    "umsatze": "sales.ask sales.title",
    nfd("Müller"): "sales.result sales.answer",
    "muller gmbh": "sales.result sales.answer",
    "lodz": "sales.result sales.answer",
    "ISTANBUL": "world.turkish",
    "istanbul": "world.turkish",
    "ilik igdir": "world.turkish",
    "οδος": "world.greek",
    "ΑΘΗΝΑ": "world.greek",
    "ёлка": "world.russian",
    "ЕЛКА": "world.russian",
    "cafe zurich": "world.decomposed",
    "Café": "world.decomposed",
    "smorrebrod": "world.decomposed",
    # Chinese, Japanese, Korean
    "桂": "cjk.rain cjk.guilin",
    "桂林": "cjk.rain cjk.guilin",
    "林桂": "",
    "降雨量": "cjk.rain cjk.guilin",
    "年降雨": "cjk.guilin",
    "1900毫米": "cjk.guilin",
    "使用pandas读取": "cjk.rain",
    "pandas读": "cjk.rain",
    "pandas": "cjk.rain sales.call",
    "読": "cjk.gasoline",
    "東京": "cjk.tokyo",
    "天気 グラフ": "cjk.tokyo",
    "データ": "cjk.tokyo cjk.gasoline",
    "データを読み込みました": "cjk.gasoline",
    "ガソリン": "cjk.gasoline cjk.halfwidth",
    "ｶﾞｿﾘﾝ": "cjk.gasoline cjk.halfwidth",
    "カソリン": "",
    "서": "cjk.seoul",
    "데이터": "cjk.seoul",
    "서울의 기온": "cjk.seoul",
    "abc123": "cjk.halfwidth",
    "ＡＢＣ１２３": "cjk.halfwidth",
    "ＮＵＭＰＹ": "release.upgrade",
    # Thai, Hindi, Arabic
    "ข้อมูล": "world.thai",
    "ยอดขาย": "world.thai",
    "ซื้อ": "",
    "हिन्दी": "world.hindi",
    "محمد": "world.arabic",
    "مُحَمَّد": "world.arabic",
    # code, whole and in parts
    "HTTPServer2": "code.ask",
    "httpserver2": "code.ask",
    "server2": "code.ask",
    "handle request": "code.ask code.call code.result",
    '"handle request"': "code.ask code.call code.result",
    '"request handle"': "",
    "handle_request": "code.call code.result",
    "handleRequest": "code.ask",
    "read_csv": "sales.call",
    "READ_CSV": "sales.call",
    "pd.read_csv": "sales.call",
    "df.groupby('kunde')": "sales.call",
    "import pandas": "sales.call",
    "csv": "sales.ask sales.call",
    "timeoutMs": "code.result",
    "timeout": "code.result",
    "__init__": "code.answer",
    "init": "code.answer",
    "os.path.join": "code.answer",
    "path.join()": "code.answer",
    "asyncio.run": "code.async",
    "until": "code.async",
    "net_io": "code.ask code.result",
    "ConnectionResetError": "code.ask",
    "reset": "code.ask",
    # paths
    "/home/m/data": "sales.ask sales.call",
    "sales_2025.csv": "sales.ask sales.call",
    "utils/net_io.py": "code.ask code.result",
    "C:\\Users\\Mia": "code.windows",
    "Users/Mia": "code.windows",
    "report.final.docx": "code.windows",
    ".git/HEAD": "git.second",
    "feature/JIRA": "git.head git.answer",
    # numbers, versions, dates
    "1.26.4": "release.upgrade",
    "26.4": "release.upgrade",
    "2.1": "release.upgrade",
    "3.14e-5": "release.mail",
    "1234.56": "sales.result",
    "1.234,56": "sales.answer",
    "29,4": "viet.answer",
    "42": "code.result release.panic",
    "2026-11-30": "release.upgrade",
    "18:00": "release.upgrade release.mail",
    # mail, web, pictures
    "mia.meier@example.org": "release.mail",
    "example.org": "release.mail",
    "https://numpy.org/doc": "release.upgrade",
    "release.html#notes": "release.upgrade",
    "🚀": "release.mail",
    "🐍": "",
    # tools: what they were called with and what came back
    "commit": "git.ask git.call",
    "terminal": "git.call",
    "fatal": "git.result",
}


@pytest.fixture(scope="module", params=["memory", "journals", "database", "both"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """Everything said, in memory, in journals, in the database, or begun there and ended in journals."""
    clock = At()
    if request.param == "memory":
        memory = MemoryLog(clock=clock, zone=UTC)
        tell(memory.append, clock)
        yield memory
        return
    if not hasattr(Store, "search"):
        pytest.skip("a store cannot be searched")
    store = Store(tmp_path_factory.mktemp("home"), clock=clock, ids=counted())
    half = 5 if request.param == "both" else None
    tell(store.append, clock, slice(half))
    if request.param != "journals":
        store.fold()
    if half:
        tell(store.append, clock, slice(half, None))
    yield store
    store.close()


def search(log: Archive, text: str, limit: int = ENOUGH) -> Found:
    return log.search(parse(text, now=NOW, zone=UTC), limit)


def names(found: Found) -> list[str]:
    return [NAMES[hit.passage.session, hit.passage.n] for hit in found.hits]


def lineage(name: str) -> str:
    """Where the conversation of a message or a session began."""
    return ROOTS[re.split(r"[-.]", name)[0]]


@pytest.mark.parametrize("text", ANSWERS)
def test_exactly_what_was_asked_for_is_found_in_its_thread_and_marked(log: Archive, text: str):
    wanted = set(ANSWERS[text].split())
    found = search(log, text)
    shown = names(found)
    assert set(shown) <= wanted
    assert found.total == len(wanted)
    assert not found.partly
    assert not found.note
    threads = Counter(lineage(name) for name in wanted)
    for thread in found.threads:
        assert {lineage(hit.passage.session) for hit in thread.hits} == {lineage(thread.root)}
        assert len(thread.hits) == min(threads.pop(lineage(thread.root)), HITS)
    assert not threads
    words = bool(parse(text, now=NOW, zone=UTC).clauses)
    for hit in found.hits:
        assert any(marked for _, marked in hit.snippet.pieces) == (hit.score > 0) == words


def test_all_that_was_said_stands_in_order_and_is_found_without_a_word(log: Archive):
    for each in ALL:
        told = [NAMES[passage.session, passage.n] for passage in log.passages(each.session)]
        assert told == [f"{each.session.partition('-')[0]}.{said.name}" for said in each.said if said.name]
    assert search(log, "").total == len(NAMES)


def test_a_message_is_found_with_its_text_its_time_and_its_tool(log: Archive):
    (thread,) = search(log, "fatal").threads
    (hit,) = thread.hits
    assert (hit.passage.session, hit.passage.role, hit.passage.tool) == ("git-0010", "tool", "terminal")
    assert hit.passage.text == "fatal: You have nothing to amend."
    assert hit.passage.t == ALL[9].moment
    assert hit.snippet.pieces == (("fatal", True), (": You have nothing to amend.", False))
    assert (thread.root, thread.title) == ("git-0010", "Amend the last commit")
    assert (thread.notebook, thread.model) == ("deploy/ci.ipynb", "local:smol")


def test_a_branch_is_told_with_what_it_came_from(log: Archive):
    (thread,) = search(log, "marmalade").threads
    assert thread.root == "undone-0007"
    assert len(thread.hits) == 4
    assert thread.hits[0].score == max(hit.score for hit in thread.hits)


def test_where_nothing_has_every_word_the_most_of_them_is_found_and_said(log: Archive):
    found = search(log, "marmalade herons zeppelin")
    assert set(names(found)) == {"undone.keep", "undone.kept", "undone.idea", "branch.glasses", "birds.ask"}
    assert (found.partly, found.total) == (True, 5)
    found = search(log, 'numpy upgrade herons -"to 2"')
    assert (set(names(found)), found.partly) == ({"birds.ask"}, True)


def test_no_more_threads_are_shown_than_asked_for_and_all_are_counted(log: Archive):
    found = search(log, "role:user", 3)
    assert len(found.threads) == 3
    assert found.total == sum(bool(said.name) and isinstance(said.fact, Asked) for each in ALL for said in each.said)
    assert [hit.passage.t for hit in found.hits] == sorted((hit.passage.t for hit in found.hits), reverse=True)


def test_a_better_match_stands_before_a_worse(log: Archive):
    assert names(search(log, "amend"))[:1] in (["git.ask"], ["git.result"])
    assert names(search(log, "rain OR giraffes"))[0] == "short.counted"


def test_a_session_is_named_by_its_id_its_beginning_its_title_or_last(log: Archive):
    named = ["git-0010", "git-", "Umsätze nach Kunden", "Amend the last commit", "last"]
    assert [log.find(text) for text in named] == ["git-0010", "git-0010", "sales-0001", "git-0010", "short-0012"]
    for text in ("git", "nobody", ""):
        with pytest.raises(KeyError):
            log.find(text)


def test_a_day_is_a_day_of_this_machine():
    code = (
        "import os, time\n"
        "os.environ['TZ'] = 'Europe/Berlin'\n"
        "time.tzset()\n"
        "from hermes_kernel.core.search.query import parse\n"
        "from hermes_kernel.world.zone import LOCAL\n"
        "asked = parse('after:2026-07-04 before:2026-01-04T12:00', now=1.8e9, zone=LOCAL).filters\n"
        "today = parse('after:today', now=1.8e9, zone=LOCAL).filters\n"
        "print(asked.after, asked.before, today.after)\n"
    )
    summer, winter = datetime(2026, 7, 3, 22, tzinfo=UTC), datetime(2026, 1, 4, 11, tzinfo=UTC)
    today = datetime(2027, 1, 14, 23, tzinfo=UTC)
    assert done(child(code)).split() == [str(each.timestamp()) for each in (summer, winter, today)]


def test_a_message_is_found_as_soon_as_it_is_told_and_never_after_it_is_undone(log: Archive):
    log.append("birds-0009", Asked("The ostrich did not fly"))
    assert [hit.passage.text for hit in search(log, "ostrich").hits] == ["The ostrich did not fly"]
    log.append("birds-0009", Undone(1))
    assert search(log, "ostrich") == Found((), 0)
