"""What every panel stands on, pressed as in a page: on the loop, one thing at a time, and a document in the end."""

from __future__ import annotations

import sys
import time

import pytest

from hermes_kernel.testing import say
from tests.kernel.conftest import Kernel
from tests.kernel.pressing import Page
from tests.soon import SOON

VIEW = "application/vnd.jupyter.widget-view+json"
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b[31m$x$"
PANEL = (
    f"HOSTILE = {HOSTILE!r}"
    """
import asyncio, threading, time
from hermes_kernel.errors import HermesError
from magics.panels.board import Board
from magics.commands.table import facts

desk = get_ipython().magics_manager.registry["HermesMagics"].desk
done, state = [], {"fails": False}

def document():
    if state["fails"]:
        raise OSError("the disk is gone")
    return facts(("done", len(done)), ("who", HOSTILE))

board = Board(desk, "trial", document)

async def where():
    here = threading.current_thread() is threading.main_thread() and asyncio.get_running_loop() is board._loop
    done.append("where")
    board.say("on the loop" if here else "elsewhere", "person")

async def refused():
    raise HermesError("That cannot be done. Ask somebody else.")

async def broken():
    raise ZeroDivisionError("by <b>nothing</b>\\nat all")

async def slow():
    done.append("begun")
    await asyncio.sleep(0.3)
    done.append("ended")
    board.say(f"in order: {done}")

async def ever():
    await released.wait()
    board.say("let go")

async def release():
    released.set()

async def confirmed():
    done.append("confirmed")
    board.say(f"confirmed {done.count('confirmed')}")

async def typed(text):
    done.append(text)
    board.say(f"searched for {[each for each in done if each.startswith('q')]}")

async def chosen(key):
    board.say(f"chosen: {key}")

async def fill():
    board.fill(rows, [(f"{name} {HOSTILE}", name) for name in ("one", "two", "three")], "two")
    board.say("filled")

async def away():
    board.say(f"away: {await board.away(lambda: threading.current_thread() is threading.main_thread())}")

released = asyncio.Event()
rows = board.listing("Things", chosen)
buttons = [
    board.button("Where", where), board.button("Refuse", refused), board.button("Break", broken),
    board.button("Slow", slow), board.button("Long", lambda: long()), board.button("Release", release),
    board.button("Remove", confirmed, sure="Remove: press again"), board.button("Fill", fill),
    board.button("Away", away), board.button(HOSTILE, where, hint=HOSTILE),
]

async def long():
    board.meanwhile(ever)

field = board.field("Search", typed, hint=HOSTILE)
kinds = board.choice("Kind", [("all", ""), (HOSTILE, "bad")], chosen)
board.show(field, kinds, rows, board.row(*buttons))
"""
)


@pytest.fixture
def panel(running: Kernel) -> Page:
    return Page(running).show(running.python(PANEL))


def test_a_press_is_done_on_the_loop_whoever_heard_it(panel):
    panel.press("Where")
    panel.says("on the loop")


def test_what_is_slow_is_done_on_a_thread(panel):
    panel.press("Away")
    panel.says("away: False")


def test_one_thing_is_done_after_the_other(panel):
    panel.press("Slow")
    panel.press("Slow")
    panel.says("in order: [&#x27;begun&#x27;, &#x27;ended&#x27;, &#x27;begun&#x27;, &#x27;ended&#x27;]")


def test_what_may_take_long_goes_on_beside_whatever_else_is_pressed(panel):
    panel.press("Long")
    panel.press("Where")
    panel.says("on the loop")
    panel.press("Release")
    panel.says("let go")


def test_what_cannot_be_done_is_one_line_and_the_panel_goes_on(panel):
    panel.press("Refuse")
    panel.says("That cannot be done. Ask somebody else.")
    panel.press("Break")
    panel.says("That did not work: ZeroDivisionError: by &lt;b&gt;nothing&lt;/b&gt; at all")
    assert "<b>" not in panel.html()
    panel.press("Where")
    panel.says("on the loop")


def test_a_second_press_confirms_and_a_double_click_does_not(panel):
    button = panel._model("Remove")
    click = {"method": "custom", "content": {"event": "click"}, "buffers": []}
    panel._send(button, click)
    panel._send(button, click)
    panel.offers("Remove: press again")
    panel.quiet()
    assert panel.has("Remove: press again")
    panel.press("Remove: press again")
    panel.says("confirmed 1")
    panel.offers("Remove")


def test_whoever_is_asked_and_does_something_else_is_asked_anew(panel):
    panel.press("Remove")
    panel.offers("Remove: press again")
    panel.press("Fill")
    panel.says("filled")
    panel.offers("Remove")
    panel.press("Remove")
    panel.offers("Remove: press again")
    panel.choose("Things", "three")
    panel.says("chosen: three")
    panel.offers("Remove")
    assert "confirmed" not in panel.html()


def test_whoever_types_fast_has_it_searched_once_for_what_stands_there_in_the_end(panel):
    for text in ("q", "qu", "que", "quer", "query"):
        panel.type("Search", text)
    panel.says("searched for [&#x27;query&#x27;]")


def test_what_a_program_chooses_is_nobodys_choice_and_what_a_person_chooses_is(panel):
    panel.press("Fill")
    panel.says("filled")
    assert panel._state("Things")["index"] == 1
    panel.choose("Things", "three")
    panel.says("chosen: three")
    panel.choose("Kind", "onerror")
    panel.says("chosen: bad")


def test_hostile_words_in_labels_hints_and_rows_are_words_without_control_characters(panel):
    panel.press("Fill")
    panel.says("filled")
    told = [str(panel.models[model]) for model in panel.models]
    assert not [each for each in told if "\\x1b" in each or "\\u202e" in each or "\x1b" in each or "\u202e" in each]
    assert "<img" not in panel.html()
    (document,) = [each for each in panel.outputs if VIEW in each]
    assert "<img" not in document["text/html"]


def test_shown_again_the_earlier_one_becomes_a_document_of_how_things_are(panel, running):
    panel.press("Where")
    panel.says("on the loop")
    before = set(panel.models)
    again = "board = Board(desk, 'trial', document)\nboard.show(board.page('<p>new</p>'))"
    panel.show(running.python(again))
    assert before <= panel.closed
    settled, new = panel.outputs[-2:]
    assert VIEW not in settled
    assert settled["text/plain"].startswith("done  1")
    assert "new" in panel.html()
    assert VIEW in new


def test_where_the_document_cannot_be_made_anew_the_earlier_one_stays(panel, running):
    panel.show(running.python("state['fails'] = True\nboard.fold()"))
    assert panel.outputs[-1]["text/plain"].startswith("done  0")
    assert VIEW not in panel.outputs[-1]
    assert panel.closed >= set(panel.models)


def test_what_is_pressed_after_the_end_does_nothing_and_harms_nothing(panel, running):
    button = panel._model("Where")
    panel.show(running.python("board.do(where)\nboard.fold()"))
    panel._send(button, {"method": "custom", "content": {"event": "click"}, "buffers": []})
    panel.quiet()
    assert running.value("done") == "[]"


def test_a_panel_is_pressed_while_a_turn_runs(panel, running, scripted):
    scripted(say(["word "] * 200, gap=0.1))
    sent = running.send(running.prompt("Speak slowly."), cell_id="c1")
    panel.until(lambda page: any("word" in each.get("text/markdown", "") for each in page.outputs), "the answer")
    begun = time.monotonic()
    panel.press("Where")
    panel.says("on the loop")
    panel.type("Search", "quick")
    panel.says("searched for [&#x27;quick&#x27;]")
    assert time.monotonic() - begun < SOON
    assert not running.client.shell_channel.msg_ready()
    running.interrupt()
    assert running.client.get_shell_msg(timeout=20)["parent_header"]["msg_id"] == sent


@pytest.mark.parametrize("name", ["hermes", "python3"])
def test_when_the_kernel_goes_a_document_stays_and_no_model(name, tmp_path):
    kernel = Kernel(name, sys.executable, tmp_path)
    try:
        panel = Page(kernel).show(kernel.python(PANEL))
        kernel.client.shutdown()
        panel.until(lambda page: set(page.models) == page.closed, "the end of every model")
        assert VIEW not in panel.outputs[-1]
        assert panel.outputs[-1]["text/plain"].startswith("done  0")
    finally:
        kernel.close()
