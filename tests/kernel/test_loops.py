"""``%hermes loops`` in real kernels: eight rows as a table, as text, and as a value."""

from __future__ import annotations

from hermes_kernel.testing import call, say


def test_the_eight_loops_are_a_table_in_text_and_html_and_a_value(running, scripted):
    scripted(call("python", {"code": "print(1)"}), say("One."))
    running.run(running.prompt("Count.", "--no-cells"))
    ran = running.run("%hermes loops")
    assert ran.status == "ok", ran.error
    (result,) = ran.of("execute_result")
    text, html = result["data"]["text/plain"], result["data"]["text/html"]
    for loop in ("tool execution", "compression", "nudge", "skill creation", "curator"):
        assert loop in text
        assert loop in html
    assert "no jobs yet" in text
    running.run(running.python("loops = %hermes loops"))
    assert running.value("[row.number for row in loops.value]") == "[1, 2, 3, 4, 5, 6, 7, 8]"
    assert running.value("loops.value[1].usage.calls") == "2"
    assert running.value("loops.value[6].last") == "None"


def test_nothing_stands_behind_the_command(running):
    ran = running.run("%hermes loops all")
    assert ran.status == "error"
    assert "loops takes nothing after it" in ran.error
