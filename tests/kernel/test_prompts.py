"""A prompt in a cell, in the kernel `hermes` and in a stock Python kernel alike."""

from __future__ import annotations

import json

import pytest

from hermes_kernel.settings import Settings
from hermes_kernel.testing import call, disconnect, forever, say, status


def sent(request) -> str:
    """The last message of a user in a request."""
    return [m["content"] for m in request.messages if m["role"] == "user"][-1]


def test_a_prompt_is_answered_and_its_turn_is_in_the_underscore(running, scripted):
    server = scripted(say("It is **four**."))
    ran = running.run(running.prompt("What is two and two?"))
    assert ran.status == "ok", ran.error
    assert "It is **four**." in ran.text
    assert sent(server.requests[0]).endswith("What is two and two?")
    assert running.value("(_.text, str(_.outcome), _.budget.spent)") == "('It is **four**.', 'completed', 1)"


def test_a_prompt_after_a_value_that_could_not_be_displayed_is_replied_to_as_what_it_is(running, scripted):
    scripted(say("Here."))
    shown = running.run(running.python("class Shy:\n    def __repr__(self): raise ValueError('no')\nShy()"))
    assert shown.status == "error"
    ran = running.run(running.prompt("Are you there?"))
    assert (ran.status, ran.of("error")) == ("ok", [])
    assert running.run(running.python("import asyncio; await asyncio.sleep(0)")).status == "ok"


def test_the_agent_works_on_the_variables_of_the_notebook(running, scripted):
    scripted(call("python", {"code": "total = sum(numbers)\ntotal"}), say("The sum is 6."))
    running.run(running.python("numbers = [1, 2, 3]"))
    ran = running.run(running.prompt("Sum the numbers."))
    assert ran.status == "ok", ran.error
    assert "✓ python  total = sum(numbers) total" in ran.text
    assert running.value("total") == "6"


def test_a_headless_run_shows_one_bundle_that_is_the_same_every_time(running, scripted):
    shown = []
    for _ in range(2):
        scripted(call("python", {"code": "6 * 7"}), say("The answer.\n\nIt is 42.", gap=0.02))
        ran = running.run(running.prompt("Go.", "--no-cells"))
        shown.append([each["data"] for each in ran.of("display_data")])
        assert ran.of("update_display_data") == []
    assert shown[0] == shown[1]
    answers = [data for data in shown[0] if "text/markdown" in data]
    assert len(answers) == 1
    assert answers[0]["text/markdown"].startswith("The answer.\n\nIt is 42.\n\n<details")


def test_a_console_shows_an_answer_whole_below_the_one_that_was_withdrawn(running, scripted):
    lost = disconnect(["The sum is 12.\n\n", "It was hard.\n\n", "Here"], after=3)
    scripted(lost, say("The sum is 13.\n\nCheck: 6+7.\n\nThat is all."))
    running.run("%config HermesMagics.retry_base_seconds = 0")
    ran = running.run(running.prompt("What is 6+7?"), answer=lambda _: "")
    running.run(f"%config HermesMagics.retry_base_seconds = {Settings().retry_base_seconds}")
    assert ran.status == "ok", ran.error
    said = [line for line in ran.stdout.splitlines() if line][:-1]
    assert said == ["The sum is 12.", "[withdrawn; once more:]", "The sum is 13.", "Check: 6+7.", "That is all."]


def test_a_notebook_sees_the_answer_grow_and_keeps_it_as_plain_markdown(running, scripted):
    scripted(say(["One ", "two.\n\n", "Three ", "four.\n"], gap=0.2))
    ran = running.run(running.prompt("Count."), cell_id="c1")
    assert len(ran.of("update_display_data")) >= 2
    assert ran.shown("text/markdown") == ["One two.", "Three four."]
    assert ran.shown("application/vnd.jupyter.widget-view+json") == []
    assert [each for each in ran.shown() if "completed · 1 of 90 calls" in each]


def test_a_slow_turn_has_a_stop_button_that_is_gone_afterwards(running, scripted):
    scripted(say(["Slow", "ly."], gap=1.2))
    ran = running.run(running.prompt("Go."), cell_id="c1")
    widgets = [
        each["data"]
        for each in ran.of("update_display_data")
        if "application/vnd.jupyter.widget-view+json" in each["data"]
    ]
    assert len(widgets) == 1
    buttons = [each for each in ran.of("comm_open") if each["data"]["state"].get("description") == "Stop"]
    assert len(buttons) == 1
    opened = {each["comm_id"] for each in ran.of("comm_open")}
    assert {each["comm_id"] for each in ran.of("comm_close")} == opened
    assert ran.shown("application/vnd.jupyter.widget-view+json") == []


def test_much_text_costs_at_most_three_times_its_size(running, scripted):
    text = "".join(f"Paragraph {n} says **something** of moderate length about number {n}.\n\n" for n in range(1500))
    pieces = [text[n : n + 6] for n in range(0, len(text), 6)]
    scripted(say(pieces))
    ran = running.run(running.prompt("Write much."), cell_id="c1", timeout=60)
    assert "".join(each.rstrip("\n") + "\n\n" for each in ran.shown("text/markdown")) == text
    payload = sum(len(json.dumps(each)) for kind in ("display_data", "update_display_data") for each in ran.of(kind))
    assert payload <= 3 * len(text)


def test_hostile_words_of_a_model_are_shown_as_words(running, scripted):
    bad = "<script>alert(1)</script> <img src=x onerror=alert(2)> [x](javascript:alert(3))"
    scripted(say(bad))
    ran = running.run(running.prompt("Go."), cell_id="c1")
    (shown,) = ran.shown("text/markdown")
    assert "<script" not in shown
    assert "<img" not in shown
    assert "](javascript:" not in shown
    assert all("<script" not in each for each in ran.shown("text/html"))
    (again,) = running.run(running.python("_")).of("execute_result")
    assert again["data"]["text/markdown"] == shown
    assert again["data"]["text/plain"] == bad


def test_a_failed_turn_is_one_line_and_the_next_cell_does_not_run(running, scripted):
    scripted(forever(status(401, "Incorrect API key provided")))
    first = running.send(running.prompt("Go."))
    second = running.send(running.python("ran_anyway = True"))
    ran = running.finish(first)
    assert ran.status == "error"
    assert ran.reply["ename"] == "HermesError"
    assert ran.error.count("\n") <= 1
    assert "File" not in ran.error
    assert running.finish(second).status == "aborted"
    assert running.value("'ran_anyway' in globals()") == "False"


def test_an_exhausted_budget_is_no_error(running, scripted):
    scripted(call("todo", {"items": []}), call("todo", {"items": []}), say("I got so far."))
    ran = running.run(running.prompt("Go on for ever.", "--budget 2"))
    assert ran.status == "ok", ran.error
    assert running.value("str(_.outcome)") == "'budget_exhausted'"
    assert "budget exhausted · 2 of 2 calls" in ran.text


def test_a_turn_that_takes_too_long_ends_with_what_there_is_and_says_so(running, scripted):
    scripted(say(["word "] * 100, gap=0.1))
    ran = running.run(running.prompt("Go.", "--timeout 0.5"))
    assert ran.status == "ok", ran.error
    assert "word" in ran.text
    assert "the time limit was reached\n[budget exhausted" in ran.text


def test_one_turn_runs_at_a_time(running, scripted):
    scripted(say(["word "] * 10, gap=0.05))
    ask = "get_ipython().run_cell_magic('hermes', '', {!r})"
    code = (
        f"import asyncio\nboth = await asyncio.gather({ask.format('one')}, {ask.format('two')}, return_exceptions=True)"
    )
    assert running.run(running.python(code)).status == "ok"
    assert running.value("[type(each).__name__ for each in both]") == "['Turn', 'HermesError']"


def test_the_turn_is_kept_under_a_name_and_a_quiet_cell_shows_nothing(running, scripted):
    scripted(say("Fine."))
    ran = running.run(running.prompt("Go.", "--as answer --quiet"))
    assert ran.status == "ok"
    assert ran.text.strip() == ""
    assert running.value("answer.text") == "'Fine.'"


def test_cells_run_since_the_last_turn_are_told_once(running, scripted):
    server = scripted(say("Yes."), say("Again."), say("No."))
    running.run(running.python("speed = 42\nprint('fast', speed)"))
    running.run(running.python("1 / 0"))
    running.run(running.prompt("What did I do?"))
    running.run(running.prompt("And now?"))
    first, second = (sent(request) for request in server.requests[:2])
    assert "speed = 42" in first
    assert "Output: fast 42" in first
    assert "Error: ZeroDivisionError: division by zero" in first
    assert second == "And now?"
    running.run(running.python("secret = 1"))
    running.run(running.prompt("Look away.", "--no-cells"))
    assert sent(server.requests[2]) == "Look away."


def test_variables_and_files_go_with_the_prompt(running, scripted):
    server = scripted(say("Seen."))
    running.run(running.python("rows = [{'name': 'Ada', 'age': 36}]\nprice = 3"))
    (running.home / "my notes.txt").write_text("buy milk")
    ran = running.run(running.prompt("$rows[0]['name'] paid $$$price {literally} @\"my notes.txt\"", "--no-cells"))
    assert ran.status == "ok", ran.error
    assert sent(server.requests[0]).startswith(
        "'Ada' paid $3 {literally} `my notes.txt`\n\nmy notes.txt (file):\nbuy milk"
    ) or sent(server.requests[0]).startswith("Ada paid $3 {literally} `my notes.txt`\n\nmy notes.txt (file):\nbuy milk")


@pytest.mark.parametrize(
    ("line", "body", "said"),
    [
        ("--bugdet 3", "Go.", "There is no option --bugdet. Did you mean --budget?"),
        ("--budget none", "Go.", "--budget cannot be 'none': it must be a whole number from 1."),
        ("--budget", "Go.", "--budget needs a whole number from 1"),
        ("--tools pithon", "Go.", "pithon"),
        ("--as 2x", "Go.", "--as cannot be '2x'"),
        ("--replay-gaps", "Go.", "--replay-gaps goes with --replay FILE"),
        ("--session nosuch", "Go.", "nosuch"),
        ("--skill nosuch", "Go.", "There is no skill 'nosuch'"),
        ("", "   \n", "The prompt is empty."),
        ("", "What is $valeu?", "There is no variable $valeu. Did you mean $value?"),
        ("", "What is $value.imagg?", "$value has no attribute imagg. Did you mean imag?"),
        ("", "Read @nosuch.txt", "There is no file nosuch.txt"),
    ],
)
def test_what_cannot_be_asked_is_said_on_one_line_and_nothing_is_lost(running, scripted, line, body, said):
    server = scripted(say("Still here."))
    running.run(running.python("value = 5"))
    ran = running.run(f"%%hermes {line}\n{body}")
    assert ran.status == "error"
    assert said in ran.error
    assert "\n" not in ran.error
    assert server.requests == ()
    after = running.run(running.prompt("Are you there?"))
    assert after.status == "ok", after.error
    assert "value = 5" in sent(server.requests[0])


def test_a_working_folder_that_was_deleted_is_no_place_but_no_hindrance(running, scripted):
    server = scripted(call("terminal", {"command": "pwd"}), say("Still here."))
    there, gone = "import os, tempfile; was = os.getcwd(); os.chdir(tempfile.mkdtemp())", "os.rmdir(os.getcwd())"
    running.run(running.python(f"{there}; {gone}"))
    lost = running.run(running.prompt("Read @nosuch.txt"))
    ran = running.run(running.prompt("Where are we?"))
    running.run(running.python("os.chdir(was)"))
    assert "There is no file nosuch.txt" in lost.error
    assert "\n" not in lost.error
    assert ran.status == "ok", ran.error
    assert "exit code 0" in server.requests[1].messages[-1]["content"]


def test_a_prompt_of_five_megabytes_arrives(running, scripted):
    server = scripted(say("Long."))
    ran = running.run(running.prompt("x" * 5_000_000), timeout=60)
    assert ran.status == "ok", ran.error
    assert len(sent(server.requests[0])) >= 5_000_000


def test_a_tool_defined_in_the_notebook_is_offered_at_once_and_the_latest_wins(running, scripted):
    server = scripted(call("price", {"sku": "A1"}), say("3."), call("price", {"sku": "A1"}), say("4."))
    for cost in (3, 4):
        code = f"from hermes_kernel import tool\n@tool\ndef price(sku: str) -> float:\n    'Look up a price.'\n    return {cost}"
        assert running.run(running.python(code)).status == "ok"
        assert running.run(running.prompt("What does A1 cost?")).status == "ok"
    results = [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"]
    assert [float(each) for each in results] == [3, 4]


@pytest.mark.parametrize(
    "cell", ["%%capture c\n%%hermes\nhi", "%%time\n%%hermes\nhi", "get_ipython().run_cell('%%hermes\\nhi')"]
)
def test_a_prompt_within_another_cell_is_refused_in_one_line(running, scripted, cell):
    server = scripted(say("Never."))
    ran = running.run(running.python(cell))
    told = ran.error + ran.stdout
    if "capture" not in cell:  # which keeps what its cell says to itself
        assert "%%hermes must be the first line of a cell of its own" in told
    assert len(told.splitlines()) < 6
    assert server.requests == ()
    assert running.value("1 + 1") == "2"
