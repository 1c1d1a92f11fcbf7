"""What lies on disk and in the environment: journals, stores, imports, skills, settings; and what a prompt takes from there."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

from hermes_kernel.core.events import Asked, Final, Observed, Opened, Outcome, Replied, Titled
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.redact import redact
from hermes_kernel.core.search.query import QueryError
from hermes_kernel.errors import HermesError
from hermes_kernel.export.exporting import export
from hermes_kernel.learning.skills.packing import packed
from hermes_kernel.settings import RANGES, Settings, SettingsError
from hermes_kernel.testing import FastClock
from hermes_kernel.world.importing import Care, Importer, Unreadable, source
from hermes_kernel.world.importing.told import Story
from hermes_kernel.world.mcp.described import WrongServer, described
from hermes_kernel.world.mcp.lines import Lines
from hermes_kernel.world.mcp.schemas import Unusable, usable
from hermes_kernel.world.store import MemoryLog, NoSession, Store, StoreError
from hermes_kernel.world.store.records import decode, encode
from magics.prompt import Prompt
from tests.fuzz.target import Grain, one_or_two_lines, said, target


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hermes-fuzz-") as name:
        yield Path(name)


def store(home: Path, prefix: str = "id") -> Store:
    numbers = count(1)
    return Store(home, clock=FastClock(), ids=lambda: f"{prefix}{next(numbers):010d}")


def told(prompt: str, answer: str) -> list[object]:
    call = ToolCall("c1", "python", '{"code": "1"}')
    return [Asked(prompt), Replied("", (call,), model="m"), Observed("c1", "seen"), Replied(answer, model="m"),
            Final(Outcome.COMPLETED, answer)]  # fmt: skip


@cache
def journal() -> bytes:
    """A journal of ten facts."""
    with folder() as home:
        log = store(home)
        log.append(
            "s", Opened("s", "You are Hermes.", "m"), *told("alpha beta", "gamma"), *(Titled(f"t{n}") for n in range(4))
        )
        log.close()
        (path,) = (home / "store" / "journal").glob("*.jsonl")
        return path.read_bytes()


@target(b"\0", b"\1\5\3\2\4", bytes(range(60)), pure=False)
def journals(data: bytes) -> None:
    """A journal that is cut, flipped, shuffled or sown with anything loses the lines that it touched, and none else."""
    grain = Grain(data)
    lines = journal().splitlines(keepends=True)
    for _ in range(grain.number(6)):
        at = grain.number(len(lines) - 1) if lines else 0
        match grain.number(5):
            case 0 if lines:
                lines[at] = lines[at][: grain.number(255)]
            case 1 if lines:
                byte = grain.number(min(len(lines[at]) - 1, 255)) if lines[at] else 0
                lines[at] = lines[at][:byte] + bytes([grain.number(255)]) + lines[at][byte + 1 :]
            case 2 if lines:
                lines.append(lines.pop(at))
            case 3 if lines:
                lines.insert(at, lines[at])
            case 4:
                lines.insert(at, grain.some(40))
            case _ if lines:
                del lines[at]
    raw = b"".join(lines)
    whole = [line for line in raw.split(b"\n")[:-1] if decode(line) is not None]
    with folder() as home:
        there = home / "store" / "journal"
        there.mkdir(parents=True, mode=0o700)
        (there / "host-1-abc.jsonl").write_bytes(raw)
        log = store(home, "after")
        expected = len({decode(line).uid for line in whole})
        try:
            facts = log.recall("s")
        except NoSession:
            facts = []
        assert len(facts) == expected
        log.append("s", Titled("after"))
        assert log.recall("s") == [*facts, Titled("after")]
        log.close()


@target(b'{"uid":"a","session":"s","n":0,"t":1.0,"fact":{"fact":"Titled","title":"x"}}', b"{}", b"[]", b'{"uid":[]}',
        words='{"uid": "session": "n": "t": "fact": null 1 -1 [] {} "s" 1e999 NaN true')  # fmt: skip
def journal_lines(data: bytes) -> None:
    """A line with the right checksum and anything in it is a record, or damaged; what is a record is written as it was."""
    record = decode(b"%08x " % zlib.crc32(data) + data)
    if record is None:
        return
    assert isinstance(record.uid, str)
    assert isinstance(record.session, str)
    assert isinstance(record.fact, dict)
    with suppress(ValueError):  # NaN, which we never write
        assert decode(encode(record)[:-1]) == record


@cache
def libraries() -> tuple[MemoryLog, Store]:
    """The same told to a log in memory, which is looked through message by message, and to a store that is folded."""
    home = Path(tempfile.mkdtemp(prefix="hermes-fuzz-store-"))
    slow, fast = MemoryLog(clock=FastClock()), store(home)
    texts = (
        "alpha beta",
        "read_csv('data.csv') 3.14",
        "桂林 山水",
        "không có gì",
        "the of the",
        "-not OR role:user 'quoted'",
    )
    for number, words in enumerate(texts):
        facts = [Opened(f"s{number}", "You are Hermes.", "m", notebook="a.ipynb"), *told(words, words[::-1])]
        for log in (slow, fast):
            log.append(f"s{number}", *facts)
    fast.fold()
    return slow, fast


@target("alpha", '"the of" -gamma', "role:user beta", "read* OR 3.14", "after:2020 before:7d", "桂林", "tool:python", "'; DROP TABLE x",
        words='" * - OR role: tool: notebook: model: session: after: before: user 2026 alpha beta the of read csv 桂 % _ \' ; -- $1 ?', pure=False)  # fmt: skip
def searches(data: bytes) -> None:
    """A search of the database finds what a look at each message finds, or both refuse in the same words."""
    text, found = said(data), []
    for log in libraries():
        try:
            hits = log.search(text, limit=20)
            found.append([hit.passage.text for hit in hits.hits])
        except QueryError as error:
            one_or_two_lines(error)
            found.append(str(error))
        except StoreError as error:
            raise AssertionError(error) from error
    assert found[0] == found[1], found


EXPORT = '{"id": "s", "source": "cli", "started_at": 1000.0, "messages": [{"role": "user", "content": "x", "timestamp": 1}]}\n'
OURS = '{"session": "s", "uid": "u", "n": 0, "t": 1.0, "fact": {"fact": "Opened", "session_id": "s", "system": "x", "model": "m"}}\n'


@target(EXPORT, OURS, EXPORT + OURS, '{"segments": [{"id": "s", "messages": []}]}\n', '{"id": "s", "messages": [{"role": "assistant", '
        '"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}], "tool_calls": "[{}]"}]}\n',
        words='{"id": "session": "uid": "fact": "n": "t": "messages": "role": "user" "assistant" "tool" "content": "tool_calls": "timestamp": '
        '"reasoning_details": "segments": null 1 -1 1e999 NaN true [] {} "" "\\ud83d" "Asked" "Replied" "usage": "calls":', pure=False)  # fmt: skip
def exports(data: bytes) -> None:
    """Lines of anything are brought as far as they are a conversation, twice as once, and can be read and exported."""
    with folder() as home:
        path = home / "export.jsonl"
        path.write_bytes(b"{" + data if not data.lstrip().startswith(b"{") else data)
        bring(path, home / "home")


def bring(path: Path, home: Path) -> None:
    log = store(home)
    told_before = -1
    for _ in range(2):
        care = Care(redact)
        try:
            with source(path) as there:
                Importer(log, care).bring(there.stories(care))
        except Unreadable as error:
            one_or_two_lines(error)
            break
        records = [record for name in sessions(home) for record in log.records(name)]
        assert told_before in (-1, len(records))
        told_before = len(records)
        for form in ("md", "ipynb", "jsonl"):
            export(records, form)
    log.close()


def sessions(home: Path) -> list[str]:
    lines = (line for path in (home / "store" / "journal").glob("*.jsonl") for line in path.read_bytes().split(b"\n"))
    return sorted({record.session for line in lines if (record := decode(line))})


VALUES: tuple[object, ...] = ("x", None, "", 0, 1, -1, 1.5, 1e308, float("inf"), b"\xff\0", b"words", "user", "assistant", "tool", "[]", "{}",
          '[{"id": "c", "function": {"name": "n", "arguments": "{}"}}]', '\0json:[{"type": "text", "text": "x"}]', "s", "\ud7ff",
          "[" * 2000, 2**62, "9" * 400, "stop", "subagent")  # fmt: skip
COLUMNS = ("source", "model", "model_config", "system_prompt", "parent_session_id", "started_at", "title", "input_tokens",
           "cache_read_tokens", "actual_cost_usd", "session_id", "role", "content", "tool_call_id", "tool_calls", "timestamp",
           "finish_reason", "reasoning", "reasoning_content", "reasoning_details", "active", "compacted")  # fmt: skip


@target(b"\0", bytes(range(200)), b"\xff" * 90, b"\7\3\2\1" * 40, pure=False)
def state_dbs(data: bytes) -> None:
    """A database of the original's names with any columns and any values is brought as far as it goes."""
    grain = Grain(data)
    with folder() as home:
        path = home / "state.db"
        connection = sqlite3.connect(path)
        for table, needed in (("sessions", ("id",)), ("messages", ("id", "session_id", "role", "content"))):
            columns = [*needed, *(name for name in COLUMNS if name not in needed and grain.number(3))]
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            for number in range(grain.number(5)):
                row = {name: grain.one(*VALUES) for name in columns}
                row["id"] = grain.one("s", number, row["id"])
                if table == "messages":
                    row["session_id"] = grain.one("s", row["session_id"])
                    row["role"] = grain.one("user", "assistant", "tool", row["role"])
                with suppress(sqlite3.Error, OverflowError):
                    connection.execute(
                        f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", list(row.values())
                    )
        connection.commit()
        connection.close()
        if grain.number(3) == 1:
            raw = bytearray(path.read_bytes())
            for _ in range(grain.number(20)):
                raw[(grain.number(255) * 256 + grain.number(255)) % len(raw)] = grain.number(255)
            path.write_bytes(raw)
        try:
            with source(path) as there:
                care = Care(redact)
                assert all(isinstance(each, Story) for each in there.stories(care))
            if grain.number(15) == 1:
                bring(path, home / "home")
        except Unreadable as error:
            one_or_two_lines(error)


def zipped(*files: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
    return made.getvalue()


MAIN = ("SKILL.md", b"---\nname: a\ndescription: b\n---\nBody")


@target(zipped(MAIN), zipped(("a/SKILL.md", MAIN[1]), ("a/x.py", b"1")), zipped(MAIN, ("../x", b"")), zipped(MAIN, ("/x", b""), ("a\\b", b"")),
        b"PK\3\4", words="SKILL.md ../ / \\ PK a/ .. C: con", pure=False)  # fmt: skip
def skill_zips(data: bytes) -> None:
    """A zip file of anything is a skill whose files lie within it, or one clear error."""
    with folder() as home:
        path = home / "a.zip"
        path.write_bytes(data)
        try:
            found = packed(path)
        except SkillError as error:
            one_or_two_lines(error)
            return
        for name in found.files:
            assert not name.startswith("/")
            assert ".." not in name.split("/")


@target("model = 'm'\nbase_url = 'http://x/v1'\n", "budget = 3\n[mcp_servers.a]\ncommand = 'x'\nargs = ['y']\n", "temperature = nan\n",
        "a = [[[[1]]]]\n", "record = 1979-05-27\n", "home = 'x'\n", "budget = 1\0budget\0nan", "model = 'x'\0timeout_seconds\0-1",
        words=" ".join(list(RANGES)[:40]) + " = [ ] { } ' \" # nan inf 1e999 1979-05-27 true 0x 1_0 \\n . [mcp_servers.a] command url headers env ${X}", pure=False)  # fmt: skip
def settings(data: bytes) -> None:
    """Whatever stands in kernel.toml and the environment is settings, or one clear error that names the place."""
    file, name, value = ([*data.split(b"\x00"), b"", b""])[:3]
    with folder() as home:
        (home / "kernel.toml").write_bytes(file)
        environ = {"HERMES_HOME": str(home), f"HERMES_{said(name).strip().upper()}": said(value)}
        try:
            found = Settings.load(environ=environ)
        except SettingsError as error:
            one_or_two_lines(error)
            return
        assert [row.name for row in found.shown()]
        for server, table in found.mcp_servers.items() if hasattr(found.mcp_servers, "items") else ():
            with suppress(WrongServer):
                described(server, table)


NAMES = {"x": 3, "words": "a" * 500, "table": [{"a": 1}], "odd": object, "deep": {"k": [1, 2, {"z": "y"}]}}


@target("say $x and $deep['k'][2]", '@notes.txt, @"a b" @~nobody/x', "$$ @@ ```\n$nothing\n``` $words", "@../../etc/passwd $table[0].a",
        words="$ $$ @ @@ $x $deep $odd.mro $table[0] ['k'] [-1] [999999999999999999999] . \" ' ``` ~ / .. notes.txt \\n", pure=False)  # fmt: skip
def prompts(data: bytes) -> None:
    """A prompt is expanded, or one clear error; what no mark is in stays as it is."""
    text = said(data)
    with folder() as home:
        (home / "notes.txt").write_text("kept")
        try:
            made = Prompt(NAMES, home).expand(text)
        except HermesError as error:
            one_or_two_lines(error)
            return
        made.encode()
        if "$" not in text and "@" not in text:
            assert made == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()


@target('{"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/x"}}}', '{"anyOf": [{}]}',
        '{"properties": {"a": {"type": ["string", "null"], "enum": [1, null]}}}', '{"command": "x", "args": "y"}', '{"url": "http://x", "headers": {}}',
        words='{"type": "object" "$ref": "#/" "properties": "anyOf": "items": "required": null 1 1e999 NaN [] {} "command": "url": "env": "headers": true')  # fmt: skip
def mcp(data: bytes) -> None:
    """What an MCP server says of a tool, and a person of a server, can be used, or is refused with why; lines are lines."""
    whole, cut = Lines(longest=500), Lines(longest=500)
    assert list(whole.feed(data)) == [line for piece in Grain(data[:30]).pieces(data) for line in cut.feed(piece)]
    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return
    try:
        json.loads(usable(value))
    except Unusable as error:
        one_or_two_lines(error)
    try:
        described("a", value)
    except WrongServer as error:
        one_or_two_lines(error)
