"""Conversations that last, as a person in a notebook meets them: found, read, named, gone on with, branched, taken along."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest

from hermes_kernel.testing import Server, call, say, stall
from tests.kernel.conftest import ROOT, Kernel


def ask(kernel: Kernel, prompt: str) -> str:
    """The session in which it was asked."""
    ran = kernel.run(kernel.prompt(prompt, "--no-cells"))
    assert ran.status == "ok", ran.error
    return kernel.value("_.session_id").strip("'")


def prompts(server: Server, request: int) -> list[str]:
    return [m["content"] for m in server.requests[request].messages if m["role"] == "user"]


def test_what_was_said_is_found_grouped_and_marked(running, scripted):
    scripted(say("The heron stands in the **reeds**."), say("No heron here."))
    first = ask(running, "Where is the heron?")
    running.run("%hermes new")
    second = ask(running, "And at the lake?")
    ran = running.run("%hermes search heron reeds OR lake")
    (result,) = ran.of("execute_result")
    text, html = result["data"]["text/plain"], result["data"]["text/html"]
    assert first[:12] in text
    assert "The **heron** stands in the" in text
    assert "<mark>heron</mark>" in html
    assert "<script" not in html
    assert second[:12] not in text
    running.run(running.python("found = %hermes search heron"))
    assert running.value("sorted(thread.root for thread in found.value.threads)") == repr(sorted([first, second]))
    assert running.value("sorted({hit.passage.role for hit in found.value.hits})") == "['assistant', 'user']"


def test_a_question_mark_is_a_part_of_what_is_looked_for(running, scripted):
    scripted(say("The whimbrel does."))
    ask(running, "Which bird whistles seven times?")
    ran = running.run("%hermes search which bird whistles?")
    assert ran.status == "ok", ran.error
    assert "Which **bird** **whistles** seven times?" in ran.text.replace("**Which**", "Which")
    assert running.run("%hermes title Seven whistles?").status == "ok"
    assert "Seven whistles?" in running.run("%hermes sessions 1").text


def test_what_was_undone_is_not_found(running, scripted):
    scripted(say("A bittern booms."))
    ask(running, "What booms?")
    assert "bittern" in running.run("%hermes search bittern").text
    running.run("%hermes undo")
    assert "Nothing was found." in running.run("%hermes search bittern").text


def test_hostile_words_are_words_wherever_a_conversation_is_shown(running, scripted):
    scripted(say("<script>window.hacked=1</script> \x1b[31mgrebe"))
    session = ask(running, "<img src=x onerror=alert(1)> grebe")
    running.run("%hermes title <b>grebe</b>")
    shown = (
        "search grebe",
        f"show {session}",
        f"show {session} 2",
        "sessions",
        "sessions all",
        f"sessions tree {session}",
    )
    for command in shown:
        (result,) = running.run(f"%hermes {command}").of("execute_result")
        html = result["data"]["text/html"]
        assert "&lt;" in html
        assert not any(tag in html for tag in ("<script", "<img", "<b>grebe"))
        assert "\x1b" not in html + result["data"]["text/plain"]


def test_a_conversation_is_named_listed_shown_and_read_around_a_place(running, scripted):
    scripted(call("todo", {"items": ["look"]}), say("Seen."))
    session = ask(running, "Look for the crane.")
    assert running.run("%hermes title Cranes in spring").status == "ok"
    assert "Cranes in spring" in running.run("%hermes sessions 3").text
    shown = running.run(f"%hermes show {session[:8]}").text
    assert "Cranes in spring" in shown
    assert "[1] user" in shown
    assert "todo" in shown
    assert shown == running.run("%hermes show").text == running.run("%hermes show Cranes in spring").text
    turns = running.run(f"%hermes show {session} turns")
    assert "Look for the crane." in turns.text
    assert running.run("%hermes show turns").text == turns.text
    around = running.run(f"%hermes show {session} 1")
    assert "[1] user" in around.text
    assert running.run("%hermes show 1").text == around.text
    running.run(running.python("read = %hermes show"))
    assert running.value("[each.role for each in read.value]") == "['user', 'assistant', 'tool', 'assistant', 'title']"


def test_where_nothing_has_been_said_there_is_nothing_to_show_or_branch_from(running):
    running.run("%hermes new")
    said = "Nothing has been said in this conversation yet. `%hermes sessions` lists those there are."
    for command in ("show", "show turns", "show 3"):
        assert running.run(f"%hermes {command}").error == f"HermesError: {said}"
    assert running.run("%hermes branch").error == (
        "HermesError: There is nothing to branch from: this conversation is empty."
    )


def test_a_title_is_kept_until_there_is_something_to_name(running, scripted):
    scripted(say("Yes."))
    before = len(running.value("[each.id for each in get_ipython().run_line_magic('hermes', 'sessions 999').value]"))
    running.run("%hermes title Empty so far")
    after = len(running.value("[each.id for each in get_ipython().run_line_magic('hermes', 'sessions 999').value]"))
    assert before == after
    ask(running, "Is it named?")
    assert "Empty so far" in running.run("%hermes sessions 1").text


def test_resume_takes_a_beginning_or_a_title_and_says_that_variables_stay_away(running, scripted):
    server = scripted(say("One."), say("Two."), say("Three."))
    session = ask(running, "first")
    running.run("%hermes title The avocet")
    for name in (session[:6], "The avocet"):
        running.run("%hermes new")
        ran = running.run(f"%hermes resume {name}")
        assert ran.status == "ok", ran.error
        assert "variables are what they are now" in ran.text
        ask(running, "again")
    assert prompts(server, 1) == ["first", "again"]
    assert prompts(server, 2) == ["first", "again", "again"]


def test_a_branch_is_a_copy_up_to_a_turn_and_both_know_of_each_other(running, scripted):
    server = scripted(say("One."), say("Two."), say("Three."), say("Other."))
    for prompt in ("first", "second", "third"):
        parent = ask(running, prompt)
    assert running.run("%hermes branch 2").status == "ok"
    child = ask(running, "instead")
    assert prompts(server, 3) == ["first", "second", "instead"]
    assert f"branched from {parent[:12]}" in running.run(f"%hermes show {child}").text
    assert f"branches: {child[:12]}" in running.run(f"%hermes show {parent}").text
    running.run(f"%hermes resume {parent}")
    assert running.run("%hermes branch 9").error == (
        "HermesError: There is no turn 9 to branch from: this session has 3 of its own."
    )


def test_a_conversation_is_exported_and_the_notebook_of_it_is_one(running, scripted):
    scripted(call("python", {"code": "print('a' + 'vocet')"}), say("It is an avocet."))
    session = ask(running, "What is it?")
    for name in ("told.md", "told.jsonl", "told.ipynb"):
        ran = running.run(f"%hermes export {session} {name}")
        assert ran.status == "ok", ran.error
        text = (running.home / name).read_text(encoding="utf-8")
        assert "It is an avocet." in text
        assert running.run(f"%hermes export {name}").status == "error", "nothing is written over"
        assert running.run(f"%hermes export {name} --force").status == "ok"
    nbformat.validate(nbformat.read(running.home / "told.ipynb", as_version=4))


def test_the_database_answers_questions_and_takes_no_orders(running, scripted):
    scripted(say("Counted."))
    session = ask(running, "How many?")
    running.run(
        running.python(f"asked = %hermes sql SELECT role, text FROM messages WHERE session = '{session}' ORDER BY n")
    )
    assert running.value("asked.value.values.tolist()") == "[['user', 'How many?'], ['assistant', 'Counted.']]"
    running.run(running.python("asked = %hermes sql SELECT 1 AS id, 2 AS id"))
    assert running.value("asked.value.id_1.tolist()") == "[2]"
    for statement in (
        "DELETE FROM facts",
        "COPY facts TO 'x.csv'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT nosuch",
    ):
        ran = running.run(f"%hermes sql {statement}")
        assert ran.status == "error", statement
        assert "\n" not in ran.error
    assert not (running.home / "x.csv").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%hermes search", "search takes what is to be found"),
        ("%hermes search role:king heron", "role"),
        ("%hermes show nosuch", "nosuch"),
        ("%hermes sessions many", "sessions takes a number from 1, not 'many'"),
        ("%hermes branch 0", "branch takes a number from 1, not '0'"),
        ("%hermes title", "A title is one line of 1 to 100 characters"),
        (f"%hermes title {'x' * 101}", "A title is one line of 1 to 100 characters"),
        ("%hermes export", "export takes a file that ends in .md, .jsonl, .ipynb"),
        ("%hermes export notes.txt", "export takes a file that ends in .md, .jsonl, .ipynb"),
        ('%hermes export "notes.md', "A quote is not closed"),
        ("%hermes sql", "sql takes a SELECT"),
        (
            "%hermes config store_url = postgresql://me:geheim123@db/x",
            "store_url can be set only before the first turn",
        ),
    ],
)
def test_a_mistake_is_one_line(running, code, said):
    ran = running.run(code)
    assert ran.status == "error"
    assert said in ran.error
    assert "\n" not in ran.error
    assert "geheim" not in ran.error


def test_tab_completes_commands_and_the_conversations_they_name(running, scripted):
    scripted(say("Yes."))
    session = ask(running, "Does Tab know it?")
    running.run("%hermes title Knots and dunlins")

    def offered(code: str) -> list[str]:
        running.client.complete(code, len(code))
        reply = running.client.get_shell_msg(timeout=30)
        while reply["msg_type"] != "complete_reply":
            reply = running.client.get_shell_msg(timeout=30)
        return reply["content"]["matches"]

    assert offered("%hermes sea") == ["search"]
    assert session[:12] in offered("%hermes show ")
    assert offered("%hermes resume Knots and") == ["Knots and dunlins"]
    assert offered(f"%hermes export {session[:5]}") == [session[:12]]
    assert offered("%hermes config stale_s") == ["stale_seconds"]
    assert offered("%%hermes --no-cells --bu") == ["--budget"]


def test_one_notebook_finds_what_another_said_a_moment_ago_both_in_the_middle_of_a_turn(tmp_path: Path):
    spoken = threading.Event()

    def listener(request):
        """Holds the first notebook's turn until the second has spoken."""
        if request.number == 1:
            assert spoken.wait(60)
            return call("session_search", {"query": "phalarope"})
        return say("The other notebook saw it.")

    home = tmp_path / "home"
    home.mkdir()
    note = call("todo", {"items": ["A phalarope spins on the pond."]})
    with Server(listener) as first_server, Server([note, stall("never", after=1, seconds=120)]) as second_server:
        first, second = (Kernel("hermes", sys.executable, home) for _ in range(2))
        try:
            first.ask_server(first_server)
            second.ask_server(second_server)
            listening = first.send(first.prompt("What did the others see?"))
            assert first_server.await_requests(1, 60)
            speaking = second.send(second.prompt("Note what spins."))
            assert second_server.await_requests(2, 60)  # its first reply is kept, its second hangs
            spoken.set()
            ran = first.finish(listening, timeout=60)
            assert ran.status == "ok", ran.error
            (found,) = [m["content"] for m in first_server.requests[1].messages if m["role"] == "tool"]
            assert "**phalarope** spins" in found
            command = [sys.executable, "-m", "hermes_kernel", "search", "phalarope", "--json"]
            environment = {"HERMES_HOME": str(home), "PYTHONPATH": str(ROOT), "PATH": ""}
            told = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
            assert told["total"] >= 2
            second.interrupt()
            assert second.finish(speaking, timeout=60).status == "error"
        finally:
            first.close()
            second.close()
