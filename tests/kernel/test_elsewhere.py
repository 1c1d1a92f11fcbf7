"""The same magics where no notebook is: in terminal IPython, in a notebook that nobody watches, and under nbval."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pexpect
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from hermes_kernel.testing import Server, call, forever, late, say, status
from hermes_kernel.testing.starting import Client

ROOT = Path(__file__).parents[2]


def environment(home: Path, server: Server) -> dict[str, str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_"))}
    ours |= {
        "HERMES_HOME": str(home),
        "HERMES_BASE_URL": server.url,
        "HERMES_API_KEY": "none",
        "HERMES_MODEL": "scripted",
        "HERMES_LEARNING": "off",
    }
    return ours | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(home / "ipython"), "TERM": "dumb", "NO_COLOR": "1"}


@pytest.fixture
def terminal(tmp_path):
    """Terminal IPython with the extension loaded: ``terminal(server)``."""
    children = []

    def start(server: Server) -> pexpect.spawn:
        arguments = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=nocolor", "--ext=magics"]
        child = pexpect.spawn(
            sys.executable, arguments, env=environment(tmp_path, server), encoding="utf-8", timeout=30
        )
        children.append(child)
        child.expect_exact("In [1]:")
        return child

    yield start
    for child in children:
        child.close(force=True)


def test_a_terminal_shows_the_answer_as_text_and_the_turn_is_in_the_underscore(terminal):
    with Server([call("python", {"code": "n * 2"}), say("It is **42**.")]) as server:
        child = terminal(server)
        child.sendline("n = 21")
        child.expect_exact("In [2]:")
        child.sendline("%%hermes")
        child.sendline("Double $n.")
        child.sendline("\n")
        child.expect_exact("It is **42**.")
        child.expect_exact("✓ python  n * 2")
        child.expect_exact("[completed · 2 of 90 calls")
        child.expect_exact("In [3]:")
        child.sendline("print(_.outcome.value)")
        child.expect_exact("completed")


def test_ctrl_c_in_a_terminal_stops_the_turn_and_the_next_prompt_works(terminal):
    with Server([late(say("Never."), 30), say("Here again.")]) as server:
        child = terminal(server)
        child.sendline("%%hermes")
        child.sendline("Go.")
        child.sendline("\n")
        assert server.await_requests(1)
        child.sendintr()
        child.expect_exact("Interrupted. The conversation is kept")
        child.expect_exact("In [2]:")
        child.sendline("%%hermes")
        child.sendline("Again.")
        child.sendline("\n")
        child.expect_exact("Here again.")


def test_a_question_in_a_terminal_is_answered_there(terminal):
    with Server(
        [call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]}), say("Blue it is.")]
    ) as server:
        child = terminal(server)
        child.sendline("%%hermes")
        child.sendline("Paint.")
        child.sendline("\n")
        child.expect_exact("2. blue")
        child.expect_exact("> ")
        child.sendline("2")
        child.expect_exact("Blue it is.")
        assert "blue" in next(m["content"] for m in server.requests[-1].messages if m["role"] == "tool")


def test_a_question_in_a_terminal_goes_by_itself_when_its_time_is_over(terminal):
    with Server(
        [call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]}), say("Red then.")]
    ) as server:
        child = terminal(server)
        child.sendline("%config HermesMagics.answer_seconds = 1.2")
        child.expect_exact("In [2]:")
        child.sendline("%%hermes")
        child.sendline("Paint.")
        child.sendline("\n")
        child.expect_exact("Without an answer: red, in 2 s.")
        child.send("half a word")
        child.expect_exact("Red then.")
        child.expect_exact("In [3]:")
        child.sendline("print(6 * 7)")
        child.expect_exact("42")
        assert "Nobody answered" in next(m["content"] for m in server.requests[-1].messages if m["role"] == "tool")


def test_a_file_of_ipythons_sets_what_is_sound_together_and_says_what_is_not(tmp_path):
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    lines = ("compress_at = 0.9", "nosuch = 1", "compress_hard_at = 0.95", "archive_days = 7", "stale_days = 3")
    text = "".join(f"c.HermesMagics.{line}\n" for line in lines)
    (profile / "ipython_config.py").write_text(f"c.InteractiveShellApp.extensions = ['magics']\n{text}")
    names = ("compress_at", "compress_hard_at", "archive_days", "stale_days")
    code = "\n".join(f"found = %config HermesMagics.{name}\nprint('{name}', found)" for name in names)
    (tmp_path / "asked.ipy").write_text(code)
    with Server([]) as server:
        done = subprocess.run(
            [sys.executable, "-m", "IPython", "--no-banner", str(tmp_path / "asked.ipy")],
            env=environment(tmp_path, server), capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
    found = [line.split() for line in done.stdout.splitlines() if line.startswith(names)]
    assert [words[1] for words in found] == ["0.9", "0.95", "7.0", "3.0"], done.stdout + done.stderr
    assert "HermesMagics.nosuch is left alone" in done.stderr
    assert done.stderr.count("is left alone") == 1


def notebook(*cells: str):
    cells = ("%load_ext magics", *cells)
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=[new_code_cell(each) for each in cells], metadata={"kernelspec": kernelspec})


@pytest.fixture
def unwatched(tmp_path):
    """Run a notebook as nbclient does: nobody is there."""

    def run(server: Server, *cells: str):
        made = notebook(*cells)
        client = Client(made, kernel_name="python3", timeout=60, resources={"metadata": {"path": str(tmp_path)}})
        client.execute(env=environment(tmp_path, server))
        return made

    return run


def test_a_notebook_that_nobody_watches_ends_with_answers_in_it(unwatched):
    steps = [call("clarify", {"question": "Red?"}), say("I chose **red**.", usage=None)]
    with Server(steps) as server:
        made = unwatched(server, "%%hermes\nPaint.", "%hermes usage")
    (answer,) = made.cells[1].outputs
    assert answer["data"]["text/markdown"].startswith("I chose **red**.")
    assert set(answer["data"]) == {"text/plain", "text/markdown"}
    assert "widgets" not in made.metadata
    assert "<table" in made.cells[2].outputs[0]["data"]["text/html"]


def test_a_failed_turn_ends_a_notebook_that_nobody_watches(unwatched):
    with Server([forever(status(401))]) as server, pytest.raises(CellExecutionError) as raised:
        unwatched(server, "%%hermes\nGo.", "after = 1")
    assert raised.value.ename == "HermesError"


def test_a_notebook_stays_true_under_nbval(tmp_path):
    def steps():
        return [call("python", {"code": "6 * 7"}), say("The answer.\n\nIt is 42.", gap=0.01)]

    made = notebook("%%hermes\nSay.", "print(_.outcome.value)")
    place = tmp_path / "told.ipynb"
    with Server(steps()) as server:
        Client(made, kernel_name="python3", timeout=60).execute(env=environment(tmp_path, server))
    nbformat.write(made, place)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-kernel-name=python3",
        "-p",
        "no:cacheprovider",
        "-q",
        str(place),
    ]
    with Server(steps()) as server:
        done = subprocess.run(
            command, env=environment(tmp_path, server), capture_output=True, text=True, check=False, cwd=tmp_path
        )
    assert re.search(r"3 passed", done.stdout), done.stdout[-2000:]
