"""What VS Code says to a kernel, without VS Code: its start, its cells, its Stop, its widgets, and what it runs behind a
person's back. A cell is named by an address, what is pressed comes on the main channel, and what a kernel cannot stop is
asked for nothing.
"""

from __future__ import annotations

import time

import pytest

from hermes_kernel.testing import Server, call, late, say
from tests.kernel.conftest import Kernel, Ran
from tests.kernel.test_questions import Seen

CELL = "vscode-notebook-cell:/books/sales.ipynb#W%dsZmlsZQ%%3D%%3D"
FLUSHED = """
import builtins
import sys

def __vscode_input_with_flush(*args, **kwargs):
    sys.stdout.flush()
    return __vscode_original_input(*args, **kwargs)

__vscode_original_input = builtins.input
builtins.input = __vscode_input_with_flush
del __vscode_input_with_flush
""".strip()
COLOURS = call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]})


class Editor:
    """A kernel as this editor speaks to it."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.cells = 0

    def send(self, code: str, metadata: dict | None = None) -> str:
        """A cell that a person runs; with the metadata that stands in the notebook, which may be anything."""
        self.cells += 1
        named = {"cellId": CELL % self.cells} | (metadata or {"vscode": {"languageId": "python"}})
        return self._request(code, True, named)

    def run(self, code: str, metadata: dict | None = None) -> Ran:
        return self.kernel.finish(self.send(code, metadata))

    def behind(self, code: str) -> Ran:
        """What the editor runs for itself: its variables, its start."""
        return self.kernel.finish(self._request(code, False, {}))

    def ask(self, kind: str, **content) -> dict:
        """A request on the main channel, and its reply."""
        client = self.kernel.client
        message = client.session.msg(f"{kind}_request", content)
        client.shell_channel.send(message)
        while True:
            reply = client.get_shell_msg(timeout=20)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]

    def _request(self, code: str, history: bool, metadata: dict) -> str:
        session = self.kernel.client.session
        content = {"code": code, "silent": False, "store_history": history, "stop_on_error": False, "allow_stdin": True}
        message = session.msg("execute_request", content, metadata=metadata)
        self.kernel.client.shell_channel.send(message)
        return message["header"]["msg_id"]


class Pane(Seen):
    """The output of a cell; what is pressed in it comes to the kernel's main channel, on any ipykernel."""

    def say(self, model: str, data: dict) -> None:
        client = self.kernel.client
        client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": model, "data": data}))


@pytest.fixture
def editor(running):
    return Editor(running)


def test_what_it_says_first_is_answered(editor):
    assert editor.ask("complete", code="__file__.", cursor_pos=9)["status"] == "ok"
    begun = editor.behind(FLUSHED)
    assert begun.status == "ok", begun.error
    assert editor.ask("kernel_info")["language_info"]["name"] == "python"


def test_the_answer_of_a_cell_stays_as_markdown_and_as_text_and_no_widget_stays(editor, scripted):
    scripted(call("python", {"code": "6 * 7"}), say("It is **42**."))
    ran = editor.run(editor.kernel.prompt("How much?"))
    assert ran.status == "ok", ran.error
    assert "It is **42**." in "\n".join(ran.shown("text/markdown"))
    assert "It is **42**." in "\n".join(ran.shown("text/plain")), "where Markdown is not known"
    assert ran.shown("application/vnd.jupyter.widget-view+json") == []


def test_what_stands_in_the_metadata_of_a_cell_is_no_matter_of_ours(editor, scripted):
    scripted(say("Good."))
    odd = {"cellId": 7, "vscode": None, "tags": ["parameters"], "hermes": "x"}
    ran = editor.run(editor.kernel.prompt("Go."), odd)
    assert ran.status == "ok", ran.error
    assert "Good." in ran.text


def test_what_is_pressed_in_a_pane_arrives_while_the_cell_runs(editor, scripted):
    server = scripted(COLOURS, say("Blue it is."))
    pane = Pane(editor.kernel, editor.send(editor.kernel.prompt("Paint.")))
    pane.press("blue")
    ran = pane.finish()
    assert ran.status == "ok", ran.error
    assert "Blue it is." in ran.text
    assert "blue" in [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"][-1]


def test_stop_in_a_pane_and_its_own_interrupt_end_a_turn_and_the_next_cell_works(editor, scripted):
    server = scripted(late(say("Never."), 60), late(say("Never."), 60), say("Here."))
    pane = Pane(editor.kernel, editor.send(editor.kernel.prompt("Go.")))
    pane.press("Stop")
    assert "interrupted" in pane.finish().text
    sent = editor.send(editor.kernel.prompt("Go again."))
    assert server.await_requests(2)
    editor.kernel.interrupt()
    assert "interrupted" in editor.kernel.finish(sent).text
    assert "Here." in editor.run(editor.kernel.prompt("Are you there?")).text


def test_a_window_that_comes_late_is_told_of_the_widgets_and_of_the_kernel_while_a_turn_runs(editor, scripted):
    server = scripted(late(say("Never."), 60))
    sent = editor.send(editor.kernel.prompt("Go."))
    assert server.await_requests(1)
    pane = Pane(editor.kernel, sent)
    pane.buttons("Stop")
    began = time.monotonic()
    assert set(pane.models) <= set(editor.ask("comm_info", target_name="jupyter.widget")["comms"])
    assert editor.ask("kernel_info")["status"] == "ok"
    assert time.monotonic() - began < 30, "both were told before the model's minute was over"
    editor.kernel.interrupt()
    assert "interrupted" in pane.finish().text


def test_what_it_runs_for_itself_is_python_and_asks_no_model(editor, scripted):
    server: Server = scripted()
    ran = editor.behind("import json\nprint(json.dumps([name for name in dir() if name == 'In']))")
    assert (ran.status, ran.stdout) == ("ok", '["In"]\n')
    assert editor.behind("no such thing").status == "error"
    assert not server.requests


def test_what_it_completes_and_inspects_is_answered_for_prompts_and_for_python(editor):
    kernel = editor.kernel
    assert editor.run(kernel.python("measurements = [1, 2]")).status == "ok"
    code = kernel.prompt("Look at $measu")
    code = code if code.startswith("%%hermes") else f"%%hermes\n{code}"
    assert "measurements" in str(editor.ask("complete", code=code, cursor_pos=len(code))["matches"])
    python = kernel.python("measurements.app")
    assert "append" in str(editor.ask("complete", code=python, cursor_pos=len(python))["matches"])
    found = editor.ask("inspect", code="measurements", cursor_pos=5, detail_level=0)
    assert found["found"]
    assert "list" in found["data"]["text/plain"]


def test_input_is_asked_for_in_its_own_field(editor):
    sent = editor.send(editor.kernel.python("print('hello', input('Who? '))"))
    ran = editor.kernel.finish(sent, answer=lambda prompt: f"Ada ({prompt.strip()})")
    assert ran.stdout == "hello Ada (Who?)\n"
