"""``hermes-kernel`` on kept conversations: found, read, named, questioned, written out. A few times as a process of its
own, as a person runs it; else in this one, which says the same and is fifty times as fast.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hermes_kernel.cli import main
from hermes_kernel.core.events import Asked, Final, Kept, Observed, Opened, Outcome, Replied, Titled, Undone
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.world.store import Store
from tests.contracts.stores import turn
from tests.test_cli import environ, run  # noqa: F401 - `environ` is a fixture

DUCKS, GEESE, HOSTILE = "d" * 32, "e" * 32, "f" * 32


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three conversations in it, one of them hostile; for tests that only look."""
    return made(tmp_path_factory.mktemp("home"))


def made(home: Path) -> Path:
    store = Store(home)
    tell(store, [*turn(DUCKS, "How many ducks?", "Three ducks.", "ducks.ipynb"), Titled("Ducks by month")])
    tell(store, [*turn(GEESE, "And the geese?", "None."), Asked("Secretly?"), Replied("Undone."), Undone(1)])
    evil = "\x1b[2J<b>teal</b>\u202e"
    call = ToolCall("c", "python", "{}")
    tell(
        store,
        [Opened(HOSTILE), Asked(evil), Replied(evil, (call,)), Observed("c", evil), Final(Outcome.COMPLETED, evil)],
    )
    store.close()
    return home


def tell(store: Store, facts: list[Kept]) -> None:
    assert isinstance(facts[0], Opened)
    store.append(facts[0].session_id, *facts)


class Done(NamedTuple):
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the home that is given."""

    def go(home: Path, *arguments: str) -> Done:
        monkeypatch.setenv("HERMES_HOME", str(home))
        code = main(arguments)
        return Done(code, *capsys.readouterr())

    return go


@pytest.fixture
def there(command: Run, home: Path) -> Run:
    """Runs a command on the home that three conversations are in."""
    return lambda *arguments: command(home, *arguments)


def test_search_tells_where_it_was_said_with_the_finds_marked(there: Run):
    done = there("search", "ducks")
    assert done.returncode == 0
    assert "dddddddddddd  Ducks by month · ducks.ipynb" in done.stdout
    assert "How many **ducks**?" in done.stdout
    assert "`hermes-kernel show ID PLACE`" in done.stdout
    assert done.stderr == ""


def test_search_gives_everything_as_json(there: Run):
    found = json.loads(there("search", "ducks", "role:user", "--json").stdout)
    assert (found["total"], found["partly"], found["note"]) == (1, False, "")
    (thread,) = found["threads"]
    (hit,) = thread["hits"]
    assert (thread["root"], thread["title"], hit["n"], hit["role"]) == (DUCKS, "Ducks by month", 1, "user")
    assert (hit["text"], hit["marked"]) == ("How many ducks?", ["ducks"])


def test_a_word_may_begin_with_a_dash_after_two_dashes(there: Run):
    assert "Nothing was found." in there("search", "--", "many", "-ducks").stdout
    assert "Nothing was found." not in there("search", "--", "-many", "ducks").stdout


def test_a_shared_store_that_is_away_is_said_whatever_is_asked(there: Run, monkeypatch: pytest.MonkeyPatch):
    """Nobody takes what is here for all there is."""
    monkeypatch.setenv("HERMES_STORE_URL", "postgresql://ada:hush@127.0.0.1:1/hermes")
    listed, missed = there("sessions"), there("show", "nosuch")
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, 3)
    assert (missed.returncode, missed.stdout) == (1, "")
    for said in (listed.stderr, missed.stderr):
        assert "the shared store at 127.0.0.1:1/hermes cannot be had now" in said
        assert len(said.splitlines()) <= 2
        assert "hush" not in said


def test_finding_nothing_is_no_failure(there: Run):
    done = there("search", "nightingale")
    assert (done.returncode, done.stdout) == (0, "Nothing was found.\n")
    assert "Nothing was found." in there("search", "secretly").stdout


@pytest.mark.parametrize("asked", [["search", "teal"], ["show", HOSTILE], ["show", HOSTILE, "2"], ["sessions"], ["sql", "SELECT text FROM messages"]])  # fmt: skip
def test_no_control_character_reaches_a_terminal(there: Run, asked: list[str]):
    done = there(*asked)
    assert done.returncode == 0
    assert "<b>teal</b>" in done.stdout.replace("**", "")
    assert not any(c in done.stdout for c in "\x1b\u202e\x9b\r")


@pytest.mark.parametrize("name", [DUCKS, "dddd", "Ducks by month"])
def test_show_reads_a_conversation_by_id_beginning_or_title(there: Run, name: str):
    done = there("show", name)
    assert done.returncode == 0
    assert done.stdout.startswith("Ducks by month\nsession dddddddddddd · ducks.ipynb · some-model · ")
    assert "[1] user" in done.stdout
    assert "    How many ducks?" in done.stdout


def test_show_reads_around_a_place_and_gives_json(there: Run):
    told = json.loads(there("show", "dddd", "4", "--json").stdout)
    assert [(each["n"], each["role"], each["tool"]) for each in told["passages"]][:3] == [
        (1, "user", ""), (2, "assistant", ""), (4, "tool", "python"),
    ]  # fmt: skip
    assert (told["session"], told["parent"], told["children"]) == (DUCKS, None, [])


def test_a_table_a_list_and_lines_of_the_same_answer(there: Run):
    asked = f"SELECT role, text FROM messages WHERE session = '{DUCKS}' AND role <> 'tool' AND text <> '' ORDER BY n"
    rows = [["user", "How many ducks?"], ["assistant", "Three ducks."]]
    assert there("sql", asked).stdout.split("\n")[0].split() == ["role", "text"]
    assert json.loads(there("sql", asked, "--json").stdout) == [
        dict(zip(("role", "text"), row, strict=True)) for row in rows
    ]
    assert list(csv.reader(io.StringIO(there("sql", asked, "--csv").stdout))) == [["role", "text"], *rows]


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_columns_of_one_name_are_told_apart_and_none_is_lost(there: Run, form: str):
    done = there("sql", "SELECT 1 AS id, 2 AS id, 3 AS ID, 4 AS id_1, 5 AS id", form)
    if form == "--json":
        [row] = json.loads(done.stdout)
        told = [*row.items()]
    else:
        told = [(name, int(cell)) for name, cell in zip(*csv.reader(io.StringIO(done.stdout)), strict=True)]
    assert told == [("id", 1), ("id_1", 2), ("ID_2", 3), ("id_1_1", 4), ("id_3", 5)]


def test_json_is_json_whatever_was_asked_and_answered(there: Run):
    asked = (
        "SELECT 'caf\udce9' AS word, 'nan'::DOUBLE AS n, [1.5, '-inf'::DOUBLE] AS some, {'a': 'inf'::DOUBLE} AS held"
    )
    done = there("sql", asked, "--json")

    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert json.loads(done.stdout, parse_constant=refuse) == [
        {"word": "caf\ufffd", "n": None, "some": [1.5, None], "held": {"a": None}}
    ]


def test_more_rows_than_asked_for_are_told_apart_from_the_answer(there: Run):
    done = there("sql", "SELECT * FROM range(100)", "-n", "3", "--csv")
    assert done.stdout.split() == ["range", "0", "1", "2"]
    assert "the first 3 rows; -n N shows more" in done.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM facts",
        "INSERT INTO facts SELECT * FROM facts",
        "CREATE TABLE mine (a INTEGER)",
        "DROP VIEW messages",
        "COPY (SELECT 1) TO 'stolen.csv'",
        "EXPORT DATABASE 'stolen'",
        "ATTACH 'other.duckdb' AS other",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM 'kernel.toml'",
        "SELECT * FROM read_text('.tmp/secret')",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '.tmp/stolen.csv'",
        "SELECT 1; DELETE FROM facts",
        "SELECT nosuch FROM messages",
        "SELECT",
        "",
        "-- nothing",
    ],
)
def test_sql_only_reads_the_store_and_nothing_else(
    there: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
):
    monkeypatch.chdir(tmp_path)
    spilled = tmp_path / ".tmp"  # DuckDB's own place for what does not fit into memory
    spilled.mkdir()
    (spilled / "secret").write_text("x")
    done = there("sql", "--", statement)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.glob("stolen*")) == list(tmp_path.glob("other*")) == []
    assert len(Store(home).sessions()) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["search", "role:king", "x"], 2, "role"),
        (["search", "x", "-n", "0"], 2, "-n must be at least 1"),
        (["sessions", "-n", "0"], 2, "-n must be at least 1"),
        (["sql", "SELECT 1", "-n", "0"], 2, "-n must be at least 1"),
        (["show", "nosuch"], 1, "no session 'nosuch'; a session is named by its id, four letters or more of"),
        (["sql", "SELECT * FROM talks"], 2, "There are: sessions, messages, tool_calls, calls, facts."),
        (["title", "nosuch", "A name"], 1, "nosuch"),
        (["show", "caf\udce9"], 1, "no session"),
        (["show", "long" * 10_000], 1, "…'; a session is named by its id"),
        (["title", DUCKS, ""], 2, "A title is one line"),
        (["title", DUCKS, "x\ny"], 2, "A title is one line"),
        (["title", DUCKS, "x" * 101], 2, "A title is one line"),
    ],
)
def test_a_mistake_is_one_line_with_its_exit_code(there: Run, arguments: list[str], code: int, said: str):
    done = there(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_title_given_here_is_a_title_everywhere_and_holds_no_secret(command: Run, tmp_path: Path):
    home = made(tmp_path / "home")
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123"
    assert command(home, "title", "eeee", "Geese", "of", key).returncode == 0
    listed = {row["id"]: row["title"] for row in json.loads(command(home, "sessions", "--json").stdout)}
    assert listed[GEESE] == "Geese of [redacted: API key]"
    assert command(home, "show", "Geese of [redacted: API key]").returncode == 0


def test_a_session_that_a_process_is_in_is_not_named_behind_its_back(environ: dict[str, str], tmp_path: Path):  # noqa: F811 - the fixture by its name
    home = made(tmp_path / "home")
    with Store(home).claim(DUCKS):
        done = run({**environ, "HERMES_HOME": str(home)}, "title", "dddd", "Mine")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_an_empty_home_has_nothing_and_says_so(command: Run, tmp_path: Path):
    assert command(tmp_path, "search", "ducks").stdout == "Nothing was found.\n"
    assert command(tmp_path, "sql", "SELECT count(*) AS facts FROM facts", "--csv").stdout == "facts\n0\n"
    assert command(tmp_path, "show", "last").stderr == "hermes-kernel: no session 'last': nothing has been said yet\n"


def test_what_is_written_out_comes_back_in_as_a_person_does_it(environ: dict[str, str], home: Path, tmp_path: Path):  # noqa: F811 - the fixture by its name
    file, here = tmp_path / "ducks.jsonl", {**environ, "HERMES_HOME": str(home)}
    assert run(here, "export", "dddd", "-o", str(file)).returncode == 0
    there = {**environ, "HERMES_HOME": str(tmp_path / "other")}
    assert run(there, "import", str(file)).returncode == 0
    done = run(there, "search", "ducks")
    assert (done.returncode, done.stderr) == (0, "")
    assert "How many **ducks**?" in done.stdout


def test_a_terminal_without_the_letters_is_shown_which_they_are(environ: dict[str, str], tmp_path: Path):  # noqa: F811 - the fixture by its name
    done = run({**environ, "HERMES_HOME": str(tmp_path), "PYTHONIOENCODING": "ascii"}, "sql", "SELECT '桂' AS tree")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["tree", r"\u6842"]
