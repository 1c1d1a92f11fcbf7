"""A session exported from a real store by the command, and the notebook run again in a real kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from hermes_kernel.core.events import Opened, Titled, Undone
from hermes_kernel.export import save, save_over
from hermes_kernel.testing import Server, say
from hermes_kernel.testing.starting import Client
from tests.contracts.stores import ROOT, store, told, turn

PROMPTS = [
    "How many rows has $df? See @notes.txt and ask anna@example.com, $$5",
    "%timeit: what does it measure?",
    "!ls: why is it slow?",
    "?",
    ">>> 1 + 1\n3\nwhat is wrong?",
    "In [1]: x\n   \n    indented\n\ttabbed",
    "--model is an option of what?",
    "```python\nprint($df)\n```\nand $rest",
    "print?",
    "{x} 'quoted' \"twice\" \\n é 字",
]


def environment(home: Path, url: str = "http://127.0.0.1:9/v1") -> dict[str, str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_"))}
    return ours | {
        "HERMES_HOME": str(home),
        "HERMES_BASE_URL": url,
        "HERMES_API_KEY": "none",
        "HERMES_MODEL": "scripted",
        "HERMES_LEARNING": "off",
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(home / "ipython"),
    }


def command(home: Path, *arguments: str, umask: int = 0o022) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hermes_kernel", *arguments], env=environment(home), cwd=home, capture_output=True,
        text=True, check=False, umask=umask,
    )  # fmt: skip


@pytest.fixture
def home(tmp_path):
    log = store(tmp_path)
    told(log, "first", [*turn("first"), Titled("Rows")])
    told(log, "child", [Opened("child", parent="first"), *turn("child", "And <b>columns</b>?")[1:]])
    told(log, "other", turn("other", "Something else?"))
    log.close()
    return tmp_path


# --- run again


@pytest.mark.parametrize("kernel", ["python3", "hermes"])
def test_run_all_asks_the_same_prompts_in_the_same_order_in_one_new_session(tmp_path, kernel):
    log = store(tmp_path)
    facts = [each for prompt in PROMPTS for each in turn("old", prompt)[1:]]
    log.append("old", Opened("old"), *facts)
    made = command(tmp_path, "export", "old", "-o", "old.ipynb", "--kernel", kernel)
    assert made.returncode == 0, made.stderr
    notebook = nbformat.read(tmp_path / "old.ipynb", as_version=4)
    nbformat.validate(notebook)
    with Server([say(f"answer {n}") for n in range(len(PROMPTS))]) as server:
        client = Client(notebook, timeout=60, kernel_name=kernel, resources={"metadata": {"path": tmp_path}})
        client.extra_arguments = ["--IPKernelApp.log_level=ERROR"]
        client.execute(env=environment(tmp_path, server.url))
        asked = [
            [each["content"] for each in request.body["messages"] if each["role"] == "user"]
            for request in server.requests
        ]
    assert asked[-1] == PROMPTS
    assert asked == [PROMPTS[: n + 1] for n in range(len(PROMPTS))]
    assert len(log.sessions()) == 2


# --- the command


def test_a_session_goes_to_stdout_as_markdown(home):
    done = command(home, "export", "child")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# And &lt;b&gt;columns&lt;/b&gt;?\n")
    assert "Something else" not in done.stdout


@pytest.mark.parametrize(("name", "begin"), [("a.md", "# Rows\n"), ("a.jsonl", '{"uid":"'), ("a.ipynb", '{\n "cells"')])
def test_a_file_is_written_as_its_name_says(home, name, begin):
    done = command(home, "export", "first", "-o", name, umask=0o027)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{name}: written\n")
    assert (home / name).read_text(encoding="utf-8").startswith(begin)
    assert (home / name).stat().st_mode & 0o777 == 0o640


def test_lines_are_everything_the_store_has(home):
    done = command(home, "export", "first", "--format", "jsonl")
    log = store(home)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"uid": each.uid, "session": each.session, "n": each.n, "t": each.t, "fact": each.fact}
        for each in log.records("first")
    ]


def test_the_lines_of_a_session_make_it_again_in_another_home(home, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert command(home, "export", "child", "--lineage", "-o", str(elsewhere / "a.jsonl")).returncode == 0
    brought = command(elsewhere, "import", "a.jsonl")
    assert brought.returncode == 0, brought.stderr
    old, new = store(home), store(elsewhere)
    assert {row.id for row in new.sessions()} == {"first", "child"}
    assert [new.records(each) for each in ("first", "child")] == [old.records(each) for each in ("first", "child")]


def test_a_lineage_is_told_from_its_beginning(home):
    done = command(home, "export", "child", "--lineage")
    assert done.stdout.index("# Rows") < done.stdout.index("# And &lt;b&gt;columns")
    assert "Something else" not in done.stdout


def test_nothing_is_written_over_without_being_told_to(home):
    (home / "mine.md").write_text("mine")
    refused = command(home, "export", "first", "-o", "mine.md")
    assert (refused.returncode, (home / "mine.md").read_text()) == (2, "mine")
    assert "--force" in refused.stderr
    forced = command(home, "export", "first", "-o", "mine.md", "--force")
    assert (forced.returncode, (home / "mine.md").read_text()[:6]) == (0, "# Rows")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nobody"], 1, "no session 'nobody'"),
        (["first", "-o", "a.pdf"], 2, "--format is needed for a.pdf: md, jsonl or ipynb"),
        (["first", "--format", "pdf"], 2, "invalid choice: 'pdf'"),
        (["first", "--kernel", "julia"], 2, "invalid choice: 'julia'"),
    ],
)
def test_what_cannot_be_exported_is_said_in_a_line(home, arguments, code, said):
    done = command(home, "export", *arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_there_is_a_line_too(home):
    done = command(home, "export", "first", "-o", "no/where.md")
    assert done.returncode == 1
    assert done.stderr == "hermes-kernel: no/where.md was not written: No such file or directory\n"


# --- files


def test_a_file_that_is_replaced_keeps_its_permissions_and_a_link_its_target(tmp_path):
    target, link = tmp_path / "a.md", tmp_path / "link.md"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    save_over("new", link)
    assert (target.read_text(), target.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o600, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.md", "link.md"]


def test_no_link_that_waits_beside_a_file_is_written_through(tmp_path):
    """Where everybody may write, somebody may guess the name of what is half written."""
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / f".a.md.{os.getpid()}").symlink_to(tmp_path / "theirs")
    save("new", tmp_path / "a.md")
    assert ((tmp_path / "a.md").read_text(), (tmp_path / "theirs").read_text()) == ("new", "theirs")
    assert not (tmp_path / "a.md").is_symlink()


def test_a_file_that_came_meanwhile_is_left_alone(tmp_path):
    (tmp_path / "a.md").write_text("old")
    with pytest.raises(FileExistsError, match="--force"):
        save("new", tmp_path / "a.md")


# --- families


@pytest.mark.parametrize("folded", [False, True])
def test_a_family_is_all_kin_and_nobody_else(home, folded):
    log = store(home)
    log.append("grandchild", Opened("grandchild", parent="child"))
    log.append("orphan", Opened("orphan", parent="gone"))
    log.append("sibling", Opened("sibling", parent="gone"))
    log.append("loop", Opened("loop", parent="pool"))
    log.append("pool", Opened("pool", parent="loop"))
    if folded:
        log.fold()
    assert log.family("grandchild") == {"first", "child", "grandchild"} == log.family("first")
    assert log.family("orphan") == {"orphan", "sibling"}
    assert log.family("loop") == {"loop", "pool"}
    assert log.family("other") == {"other"}
    assert log.family("nobody") == {"nobody"}


def test_what_was_undone_is_in_the_lines_alone(home):
    log = store(home)
    log.append("first", *turn("first", "A mistake")[1:], Undone())
    assert "A mistake" not in command(home, "export", "first").stdout
    assert "A mistake" in command(home, "export", "first", "--format", "jsonl").stdout
