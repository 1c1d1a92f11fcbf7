"""What was said in twelve small conversations, for searches with known answers. A message is called ``session.name``.

Everything hard about finding is in here once: scripts with and without spaces, accents in every form, code, paths,
numbers, what was undone, branched, cut, stopped, compressed or only thought.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from hermes_kernel.core.events import (
    Accepted,
    Asked,
    Compressed,
    Failed,
    Final,
    Interrupted,
    Kept,
    Observed,
    Opened,
    Outcome,
    Replied,
    Started,
    Titled,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Assistant, ToolCall, User
from hermes_kernel.world.clock import SystemClock


class At(SystemClock):
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.moment = 0.0

    def now(self) -> float:
        return self.moment


class Said(NamedTuple):
    """A fact, and the name of the message it is; empty where it is none that can be found."""

    name: str
    fact: Kept


class Conversation(NamedTuple):
    """A session and the day it was held on, at noon UTC."""

    session: str
    day: str
    said: tuple[Said, ...]

    @property
    def moment(self) -> float:
        return datetime.fromisoformat(f"{self.day}T12:00").replace(tzinfo=UTC).timestamp()


def ask(name: str, text: str) -> Said:
    return Said(name, Asked(text))


def answer(name: str, text: str, **more: object) -> Said:
    return Said(name, Replied(text, **more))  # type: ignore[arg-type]


def call(name: str, text: str, tool: str, **arguments: object) -> Said:
    return Said(name, Replied(text, (ToolCall(f"call-{name}", tool, json.dumps(arguments)),)))


def seen(name: str, of: str, text: str, *, ok: bool = True) -> Said:
    return Said(name, Observed(f"call-{of}", text, ok))


def end(text: str, outcome: Outcome = Outcome.COMPLETED, name: str = "") -> Said:
    return Said(name, Final(outcome, text))


def quietly(fact: Kept) -> Said:
    return Said("", fact)


SALES = Conversation("sales-0001", "2026-03-10", (
    quietly(Opened("sales-0001", "You are Hermes, zeppelin.", "Qwen3-8B", notebook="Umsatz/Q3 Bericht.ipynb")),
    ask("ask", "Lade die Umsätze aus /home/m/data/sales_2025.csv und zeige die größten Kunden."),
    call("call", "Ich lese die Datei mit pandas.", "python",
         code="import pandas as pd\ndf = pd.read_csv('/home/m/data/sales_2025.csv', sep=';')\ndf.groupby('kunde').sum()"),
    quietly(Started("call-call")),
    seen("result", "call", "kunde\nMüller GmbH 1234.56\nŁódź SA 99"),
    answer("answer", "Am größten sind Müller GmbH und Łódź SA; Müller liegt bei 1.234,56 €, Straße unbekannt."),
    end("Am größten sind Müller GmbH und Łódź SA; Müller liegt bei 1.234,56 €, Straße unbekannt."),
    Said("title", Titled("Umsätze nach Kunden")),
))  # fmt: skip

VIET = Conversation("viet-0002", "2026-04-01", (
    quietly(Opened("viet-0002", "", "gpt-oss-20b", notebook="viet/du-lieu.ipynb")),
    ask("ask", "Tính trung bình nhiệt độ ở Hà Nội và Đà Nẵng trong tháng bảy."),
    answer("answer", "Nhiệt độ trung bình ở Hà Nội là 29,4 °C, ở Đà Nẵng là 28,9 °C."),
    end("Nhiệt độ trung bình ở Hà Nội là 29,4 °C, ở Đà Nẵng là 28,9 °C."),
))  # fmt: skip

CJK = Conversation("cjk-0003", "2026-04-02", (
    quietly(Opened("cjk-0003", "", "Qwen3-8B", notebook="cjk.ipynb")),
    ask("rain", "使用pandas读取数据，然后画出桂林的降雨量。"),
    answer("guilin", "桂林的年降雨量约为1900毫米。"),
    end("桂林的年降雨量约为1900毫米。"),
    ask("tokyo", "東京の天気データをグラフにしてください。"),
    answer("gasoline", "データを読み込みました。ガソリン価格も含みます。"),
    ask("seoul", "서울의 기온 데이터를 보여 줘"),
    answer("halfwidth", "ｶﾞｿﾘﾝ と ＡＢＣ１２３ 完了"),
))  # fmt: skip

CODE = Conversation("code-0004", "2026-05-05", (
    quietly(Opened("code-0004", "", "sonnet-x", notebook="debug.ipynb")),
    ask("ask", "Why does HTTPServer2.handleRequest raise ConnectionResetError in utils/net_io.py?"),
    call("call", "", "search_files", pattern="def handle_request", glob="*.py"),
    seen("result", "call", "utils/net_io.py:42: def handle_request(self, timeoutMs=500):"),
    answer("answer", "`self.sock.sendall` fails because parseURLs() closes the socket; see __init__ and os.path.join."),
    ask("windows", "Open C:\\Users\\Mia\\Desktop\\report.final.docx with --no-backup -v"),
    answer("async", "Use `asyncio.run(main())`, not `loop.run_until_complete`; snake_case_name is fine."),
))  # fmt: skip

RELEASE = Conversation("release-0005", "2026-06-15", (
    quietly(Opened("release-0005", "", "sonnet-x", notebook="debug.ipynb")),
    ask("upgrade", "Upgrade numpy from 1.26.4 to 2.1.0 before 2026-11-30T18:00:00Z, see https://numpy.org/doc/stable/release.html#notes"),
    answer("mail", "Mail it to mia.meier@example.org 🚀 by 18:00, tagged #release, 50% done, $1,000,000 or 3.14e-5."),
    ask("bindings", "C++ and C# bindings: what's new? a|b & `ls -la | grep foo` <b>bold</b>"),
    answer("panic", "It doesn't compile: error C2065, see issue #42. Don't panic!"),
    end("It doesn't compile: error C2065, see issue #42. Don't panic!"),
))  # fmt: skip

WORLD = Conversation("world-0006", "2026-07-07", (
    quietly(Opened("world-0006", "", "gpt-oss-20b", notebook="world.ipynb")),
    ask("czech", "Příliš žluťoučký kůň úpěl ďábelské ódy"),
    answer("turkish", "İstanbul'da ılık bir gün, Iğdır soğuk"),
    ask("greek", "Η οδός Ερμού στην Αθήνα, ΟΔΟΣ πεζών"),
    answer("russian", "Ёлка стоит в Берёзовке; ещё раз"),
    ask("thai", "ข้อมูลยอดขายรายเดือน"),
    answer("hindi", "हिन्दी में लिखो"),
    ask("arabic", "كتب مُحَمَّد رسالة"),
    answer("decomposed", unicodedata.normalize("NFD", "Café Zürich, smørrebrød")),
))  # fmt: skip

UNDONE = Conversation("undone-0007", "2026-08-01", (
    quietly(Opened("undone-0007", "", "Qwen3-8B", notebook="kitchen.ipynb")),
    ask("keep", "Keep the marmalade recipe"),
    answer("kept", "The marmalade recipe is kept."),
    end("The marmalade recipe is kept."),
    ask("", "Forget the marmalade zeppelin"),
    answer("", "The zeppelin is forgotten."),
    end("The zeppelin is forgotten."),
    Said("title", Titled("Jam")),
    quietly(Undone(1)),
    ask("idea", "Another marmalade idea"),
))  # fmt: skip

BRANCH = Conversation("branch-0008", "2026-08-02", (
    quietly(Opened("branch-0008", "", "Qwen3-8B", "branch", "undone-0007", "kitchen.ipynb",
                   (User("Keep the marmalade recipe"), Assistant("The marmalade recipe is kept.")))),
    ask("", "How many marmalade jars?"),
    answer("", "Undo me, zeppelin"),
    quietly(Undone(1)),
    ask("glasses", "How many glasses, marmalade or not?"),
))  # fmt: skip
BIRDS = Conversation("birds-0009", "2026-09-09", (
    quietly(Opened("birds-0009", "", "sonnet-x", notebook="birds.ipynb")),
    ask("ask", "Write about herons"),
    answer("", "Cut heron zeppelin", cut=True),
    answer("poem", "A heron stands in the reed, ", thoughts="zeppelin thoughts"),
    answer("cut", "accepted egret", cut=True),
    quietly(Accepted()),
    end("A heron stands in the reed, accepted egret"),
    ask("again", "Once more, about storks"),
    quietly(Failed(Fault.DISCONNECT, "zeppelin lost", partial="The sto")),
    quietly(Interrupted(partial="The stork flew")),
    end("The stork flew", Outcome.INTERRUPTED, "stopped"),
))  # fmt: skip

GIT = Conversation("git-0010", "2026-10-10", (
    quietly(Opened("git-0010", "", "local:smol", notebook="deploy/ci.ipynb")),
    ask("ask", "Amend the last commit"),
    call("call", "", "terminal", command="git commit --amend --no-edit", seconds=30),
    seen("result", "call", "fatal: You have nothing to amend.", ok=False),
    call("second", "Trying otherwise.", "read_file", path=".git/HEAD"),
    seen("head", "second", "ref: refs/heads/feature/JIRA-1234_fix-login"),
    answer("answer", "There is nothing to amend on feature/JIRA-1234_fix-login."),
))  # fmt: skip

COMMON = Conversation("common-0011", "2026-11-11", (
    quietly(Opened("common-0011", "", "local:smol", notebook="words.ipynb")),
    ask("hamlet", "To be, or not to be: that is the question"),
    answer("times", "It was the best of times, it was the worst of times"),
    ask("end", "At the end of the day it is what it is"),
    answer("of", "The of end the; be to or is that"),
    Said("title", Titled("Of the end")),
))  # fmt: skip

SHORTER = Conversation("short-0012", "2026-11-29", (
    quietly(Opened("short-0012", "", "Qwen3-8B", notebook="long.ipynb")),
    ask("before", "Count the giraffes before the compression"),
    answer("counted", "Seven giraffes."),
    ask("", "And the okapis?"),
    quietly(Compressed((User("And the okapis?"), Assistant("zeppelin digest of giraffes")), 900, 9)),
    answer("", "Two okapis."),
    quietly(Undone(5)),
    ask("last", "Then the giraffes again, yesterday's and today's"),
))  # fmt: skip
ALL = (SALES, VIET, CJK, CODE, RELEASE, WORLD, UNDONE, BRANCH, BIRDS, GIT, COMMON, SHORTER)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()

NAMES = {
    (each.session, n): f"{each.session.partition('-')[0]}.{said.name}"
    for each in ALL
    for n, said in enumerate(each.said)
    if said.name
}
ROOTS = {each.session.partition("-")[0]: "undone" if each is BRANCH else each.session.partition("-")[0] for each in ALL}


def tell(append: Callable[..., None], clock: At, part: slice = slice(None)) -> None:
    """Have it all said, or a part of each conversation, each on its day; then let it be `NOW`."""
    for each in ALL:
        clock.moment = each.moment
        for said in each.said[part]:
            append(each.session, said.fact)
    clock.moment = NOW
