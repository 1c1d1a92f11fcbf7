"""What only the kernel `hermes` does: reading cells, completing prompts, and everything else as ipykernel does it."""

from __future__ import annotations

import pytest

from hermes_kernel.testing import Server, say


def asked(client, reply: str) -> dict:
    """The reply to the one shell request that is out."""
    while True:
        message = client.get_shell_msg(timeout=20)
        if message["header"]["msg_type"] == reply:
            return message["content"]


@pytest.mark.parametrize(
    ("code", "shows"),
    [
        ("%%py\nprint(2 + 3)", "5"),
        ("%%py\nimport asyncio\nawait asyncio.sleep(0)\nprint('awaited')", "awaited"),
        ("%%py\n", ""),
        ("%%py", ""),
        ("\n%%py print('inline')", "inline"),
        ("%%time\n2 + 4", "6"),
        ("!echo shell", "shell"),
        ("%pwd", "home"),
    ],
)
def test_python_magics_and_commands_work_as_in_ipython(hermes, code, shows):
    ran = hermes.run(code)
    assert ran.status == "ok", ran.error
    assert shows in ran.text


def test_what_is_printed_without_end_comes_in_messages_that_can_be_read(hermes):
    ran = hermes.run("%%py\nfor _ in range(100): print('x' * 100_000)")
    printed = [len(each["text"]) for each in ran.of("stream")]
    assert sum(printed) == 100 * 100_001
    assert max(printed) < 1_500_000


@pytest.mark.parametrize("code", ["?print", "print?", "hermes?", "hermes.ask??"])
def test_a_question_about_a_name_that_there_is_is_for_ipython(hermes, code):
    ran = hermes.run(code)
    assert ran.status == "ok", ran.error
    assert ran.reply["payload"]


@pytest.mark.parametrize("prompt", ["Why?", "what.is.this?", "def?", "print is what?", "import os", "  \n\nhello"])
def test_other_cells_are_prompts(hermes, prompt):
    with Server([say("Because.")]) as server:
        hermes.ask_server(server)
        ran = hermes.run(prompt)
        assert ran.status == "ok", ran.error
        assert server.requests[0].messages[-1]["content"].endswith(prompt.strip())


def test_what_front_ends_run_behind_a_persons_back_is_python(hermes):
    ran = hermes.run("x_ray = 1\nprint('seen')", store_history=False)
    assert (ran.status, ran.stdout) == ("ok", "seen\n")
    assert hermes.run("x_ray += 1", silent=True, store_history=False).status == "ok"
    assert hermes.value("x_ray") == "2"


def test_the_agent_is_in_the_namespace(hermes):
    with Server([say("Hello.")]) as server:
        hermes.ask_server(server)
        ran = hermes.run("%%py\nturn = await hermes.ask('Hi.')\nprint(turn.text)")
        assert (ran.status, ran.stdout) == ("ok", "Hello.\n")


@pytest.mark.parametrize(
    ("code", "status"), [("Tell me", "complete"), ("%%py\nfor x in y:", "incomplete"), ("%%py\nx\n\n", "complete")]
)
def test_a_prompt_is_complete_as_it_stands(hermes, code, status):
    hermes.client.is_complete(code)
    assert asked(hermes.client, "is_complete_reply")["status"] == status


def test_variables_files_and_skills_are_completed_in_a_prompt(hermes):
    (hermes.home / "skills" / "tidy").mkdir(parents=True, exist_ok=True)
    (hermes.home / "skills" / "tidy" / "SKILL.md").write_text("Tidy up.")
    (hermes.home / "report.csv").write_text("a,b")
    (hermes.home / "two words.txt").write_text("")
    hermes.run("%%py\nmeasurements = 'abc'")

    def completed(code: str, at: int | None = None) -> tuple[list[str], str]:
        hermes.client.complete(code, at)
        reply = asked(hermes.client, "complete_reply")
        return reply["matches"], code[reply["cursor_start"] : reply["cursor_end"]]

    assert completed("What is $measu") == (["measurements"], "measu")
    matches, replaced = completed("What is $measurements.isal")
    assert any("isalpha" in each for each in matches)
    assert "measurements.isal".endswith(replaced)
    assert completed("Read @rep") == (["report.csv"], "rep")
    assert completed("Read @two") == (['"two words.txt"'], "two")
    assert completed("/ti") == (["tidy"], "ti")
    assert completed("nothing here") == ([], "")
    assert completed("%%py\nmeasu")[0] == ["measurements"]


def test_a_skill_is_named_by_an_option_or_by_the_first_word(hermes):
    (hermes.home / "skills" / "rhyme").mkdir(parents=True, exist_ok=True)
    (hermes.home / "skills" / "rhyme" / "SKILL.md").write_text("Answer in rhymes.")
    with Server([say("One."), say("Two.")]) as server:
        hermes.ask_server(server)
        hermes.run("%%hermes --skill rhyme --no-cells\nSpeak.")
        hermes.run("/rhyme Speak again.")
        first, second = (request.messages[-1]["content"] for request in server.requests)
    assert first == "[Skill rhyme]\nAnswer in rhymes.\n[End of skill]\n\nSpeak."
    assert second == "[Skill rhyme]\nAnswer in rhymes.\n[End of skill]\n\nSpeak again."


def test_inspection_and_history_work(hermes):
    hermes.client.inspect("print", 3)
    assert "print" in asked(hermes.client, "inspect_reply")["data"]["text/plain"]
    hermes.run("%%py\nunforgettable = 1")
    hermes.client.history(hist_access_type="tail", n=1)
    assert "unforgettable" in asked(hermes.client, "history_reply")["history"][0][2]


def test_the_debugger_answers(hermes):
    content = {"type": "request", "seq": 1, "command": "debugInfo", "arguments": {}}
    message = hermes.client.session.msg("debug_request", content)
    hermes.client.control_channel.send(message)
    reply = hermes.client.get_control_msg(timeout=20)["content"]
    assert reply["success"] is True


def test_it_says_who_it_is(hermes):
    hermes.client.kernel_info()
    info = asked(hermes.client, "kernel_info_reply")
    assert info["implementation"] == "hermes"
    assert info["language_info"]["name"] == "python"
    assert "a cell is a prompt" in info["banner"]
    assert "debugger" in info["supported_features"]


def test_unloaded_the_magics_come_back_with_the_next_cell_and_hermes_is_their_agent(hermes):
    agent = "get_ipython().magics_manager.registry['HermesMagics'].desk.agent"
    hermes.run("%unload_ext magics")
    assert hermes.run("%hermes status").status == "ok"
    assert hermes.value(f"hermes is {agent}") == "True"
    hermes.run("%%py\nhermes = 'mine'")
    assert hermes.value("hermes") == "'mine'"
    hermes.run("%%py\ndel hermes")
    assert hermes.value(f"hermes is {agent}") == "True"
