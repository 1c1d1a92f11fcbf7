"""The panel of a running turn, pressed over comm messages as a page presses it: it stops whatever goes on, costs little,
is found again by a page that is loaded anew, and leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any

import pytest
import zmq

from hermes_kernel.testing import Request, Server, Step, Thoughts, call, calls, forever, late, say, stall, status
from tests.kernel.conftest import KINDS, Kernel
from tests.soon import SOON

VIEW = "application/vnd.jupyter.widget-view+json"
TIMES = int(os.environ.get("HERMES_TEST_TIMES", "1"))  # 10 for figures
PATIENCE = 60.0  # seconds; nothing is tested by them
LEFT = """
import asyncio, gc
from ipywidgets.widgets.widget import _instances
gc.collect()
print(len(_instances), sorted(t.get_coro().__qualname__ for t in asyncio.all_tasks() if 'Live' in t.get_coro().__qualname__),
      get_ipython().magics_manager.registry['HermesMagics'].desk.person.stage)
"""
NOTHING = "0 [] None\n"
NOTHING_TO_DO = """
from hermes_kernel import tool
@tool
def nothing(n: str) -> str:
    "Do nothing."
    return n
"""


class Page:
    """What a page knows of the cell that runs. It may be another than the one that runs it."""

    def __init__(self, kernel: Any, sent: str) -> None:
        self.kernel = kernel
        self.sent = sent
        self.messages: list[dict[str, Any]] = []
        self.session = kernel.client.session

    @property
    def models(self) -> dict[str, dict[str, Any]]:
        """The states of the models, by id."""
        found: dict[str, dict[str, Any]] = {}
        for message in self.messages:
            content = message["content"]
            match message["header"]["msg_type"]:
                case "comm_open" if "state" in content["data"]:
                    found[content["comm_id"]] = dict(content["data"]["state"])
                case "comm_msg" if content["data"].get("method") == "update":
                    found.setdefault(content["comm_id"], {}).update(content["data"]["state"])
                case "comm_close":
                    found.pop(content["comm_id"], None)
        return found

    def button(self, name: str) -> str:
        """The model of a button, or nothing."""
        return next((model for model, state in self.models.items() if state.get("description") == name), "")

    def until(self, seen: Callable[[], Any]) -> Any:
        """Listen until there is something to see; that."""
        end = time.monotonic() + PATIENCE
        while not (found := seen()):
            assert time.monotonic() < end, [m["content"] for m in self.messages][-3:]
            if (message := self.kernel._next(self.kernel.client.get_iopub_msg, None, timeout=0.5)) is not None:
                self.messages.append(message)
        return found

    def shows(self, words: str) -> None:
        """Listen until these words are shown."""
        self.until(lambda: any(words in json.dumps(m["content"], ensure_ascii=False) for m in self.messages))

    def click(self, name: str) -> float:
        """Press a button once it is there; when that was."""
        self.send(
            "comm_msg", self.until(lambda: self.button(name)), {"method": "custom", "content": {"event": "click"}}
        )
        return time.perf_counter()

    def send(self, kind: str, comm_id: str, data: dict[str, Any], **more: Any) -> None:
        metadata = {"version": "1.0.0"}
        message = self.session.msg(kind, {"comm_id": comm_id, "data": data, **more}, metadata=metadata)
        self.kernel.client.shell_channel.send(message)

    def loaded_anew(self) -> None:
        """Be another page, which asks for all models as JupyterLab does when a notebook is opened."""
        self.session = self.session.clone()
        self.session.session = "another page"
        self.send("comm_open", "control", {}, target_name="jupyter.widget.control")
        self.send("comm_msg", "control", {"method": "request_states"})
        self.until(lambda: any("update_states" in str(m["content"]) for m in self.messages))

    def finish(self, began: float = 0.0) -> Any:
        mine = [each for each in self.messages if each["parent_header"].get("msg_id") == self.sent]
        return self.kernel.finish(self.sent, began=began, seen=mine)


def ask(running: Any, text: str = "Go.", options: str = "") -> Page:
    """A prompt in a notebook's cell."""
    return Page(running, running.send(running.prompt(text, options), cell_id="c1"))


STAGES = {
    "thinking": (late(say("Never."), 30), "thinking"),
    "silent": (stall(["Some words.", " More."], after=1, seconds=30), "silent 2 of"),
    "retrying": (status(503), "retry 1 of 3"),
    "writing": (say(["word "] * 400, gap=0.05), "word word"),
    "in a tool": (call("terminal", {"command": "sleep 60"}), "terminal"),
}


@pytest.mark.parametrize("stage", STAGES)
def test_stop_ends_the_cell_soon_whatever_the_turn_is_at(running, scripted, stage):
    step, words = STAGES[stage]
    took = []
    for _ in range(TIMES):
        scripted(forever(step))
        page = ask(running)
        page.shows(words)
        ran = page.finish(page.click("Stop"))
        took.append(ran.seconds)
        assert ran.reply["ename"] == "KeyboardInterrupt"
        assert ran.shown(VIEW) == []
    print(f"{stage}: {sorted(round(each, 3) for each in took)}")
    assert median(took) < SOON


def test_stop_ends_the_cell_soon_while_a_person_is_asked(running, scripted):
    scripted(call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]}), say("Never."))
    page = Page(running, running.send(running.prompt("Go."), cell_id="c1", stdin=True))
    page.until(lambda: page.button("blue"))
    ran = page.finish(page.click("Stop"))
    print(f"waiting for you: {ran.seconds:.3f}")
    assert ran.reply["ename"] == "KeyboardInterrupt"
    assert ran.seconds < SOON
    assert running.run(running.python(LEFT)).stdout == NOTHING


def summarised_for_ever(request: Request) -> Step:
    summariser = "record of a conversation" in request.messages[0]["content"]
    return late(say("Never."), 30) if summariser else say("The herons stand in the reeds and wait. " * 30)


def test_stop_ends_the_cell_soon_while_a_conversation_is_compressed(running):
    running.run("%config HermesMagics.protect_last = 4")
    with Server(summarised_for_ever) as server:
        running.ask_server(server)
        for n in range(7):
            assert running.run(running.prompt(f"Day {n}. {'They stand. ' * 60}", "--no-cells")).status == "ok"
        page = Page(running, running.send("%hermes compress", cell_id="c1"))
        ran = page.finish(page.click("Stop"))
    running.run("%config HermesMagics.protect_last = 20")
    print(f"compressing: {ran.seconds:.3f}")
    assert ran.reply["ename"] == "KeyboardInterrupt"
    assert ran.seconds < SOON
    assert ran.shown(VIEW) == []
    assert running.run(running.python(LEFT)).stdout == NOTHING


def test_a_turn_leaves_no_model_no_task_and_no_stage_behind_however_it_ends(running, scripted):
    for steps, ends in (
        ([call("python", {"code": "6 * 7"}), late(say("Done."), 0.8)], "ok"),
        ([late(say("Again."), 0.8)], "ok"),
        ([forever(late(status(401, "Incorrect API key provided"), 0.8))], "error"),
        ([late(say("Quick"), 0.39)], "ok"),
    ):
        scripted(*steps)
        ran = running.run(running.prompt("Go."), cell_id="c1")
        assert ran.status == ends
        assert {each["comm_id"] for each in ran.of("comm_open")} == {each["comm_id"] for each in ran.of("comm_close")}
        assert running.run(running.python(LEFT)).stdout == NOTHING
    scripted(late(say("Never."), 30))
    page = ask(running)
    page.until(lambda: page.button("Stop"))
    running.interrupt()
    assert page.finish().status == "error"
    assert running.run(running.python(LEFT)).stdout == NOTHING


def test_a_quick_turn_has_no_widgets(running, scripted):
    scripted(forever(say("Quick.")))
    running.run(running.prompt("Go."))
    ran = running.run(running.prompt("Go."), cell_id="c1")
    assert ran.of("comm_open") == []
    assert ran.shown(VIEW) == []


@pytest.mark.parametrize("before", [0.0, 0.1, 0.5])
def test_what_a_turn_is_at_stands_above_its_answer(running, scripted, before):
    scripted(late(say(["One ", "two.\n\n", "Three."], gap=0.2), before))
    ran = running.run(running.prompt("Go."), cell_id="c1")
    first, second = [each["data"] for each in ran.of("display_data")][:2]
    assert "text/html" in first
    assert "text/markdown" in second


def test_a_page_that_is_loaded_anew_finds_the_panel_with_the_answer_in_it_and_stops_the_turn(running, scripted):
    scripted(say(["First *paragraph*.\n\n", "Second one.\n\n", *["word "] * 400], gap=0.3))
    page = ask(running)
    page.shows("Second one.")
    page.until(lambda: page.button("Stop"))
    assert "First <em>" not in json.dumps([m["content"] for m in page.messages])
    page.loaded_anew()
    page.shows("First <em>paragraph</em>.")
    pressed = page.click("Stop")
    ran = page.finish(pressed)
    assert ran.seconds < SOON
    assert ran.shown(VIEW) == []
    assert "First *paragraph*." in ran.shown("text/markdown")[0]
    page.messages += ran.messages
    kept = [state["value"] for state in page.models.values() if state.get("_view_name") == "HTMLView"]
    assert any("interrupted · " in value for value in kept)
    assert sum("First <em>paragraph</em>." in value for value in kept) == 1
    assert any("<code>%hermes show</code> has it" in value for value in kept)
    assert not page.button("Stop")


def test_thoughts_are_folded_and_are_sent_to_whoever_opens_them(running, scripted):
    scripted(say(["Fo", "u", "r", "."], thoughts=Thoughts("PONDERED " * 40), gap=0.6))
    page = ask(running)
    page.until(lambda: page.button("reasoning"))
    assert "PONDERED" not in json.dumps([m["content"] for m in page.messages])
    page.click("reasoning")
    page.shows("PONDERED")
    assert page.finish().status == "ok"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_that_goes_in_mid_turn_goes_at_once(kind, tmp_path):
    kernel = Kernel(*kind, tmp_path)
    try:
        with Server([late(say("Never."), 30)]) as server:
            kernel.ask_server(server)
            page = ask(kernel)
            page.until(lambda: page.button("Stop"))
            kernel.client.shutdown(restart=False)
            end = time.monotonic() + PATIENCE
            while kernel.manager.is_alive():
                assert time.monotonic() < end, "it does not go"
                time.sleep(0.05)
            assert server.await_idle()
    finally:
        kernel.close()


def test_whatever_happens_the_panel_changes_at_most_ten_times_a_second_and_is_read_out_once(running, scripted):
    busy = [calls([("nothing", {"n": f"{turn} {n}"}) for n in range(8)]) for turn in range(8)]
    scripted(late(busy[0], 0.5), *busy[1:], late(say(["word "] * 40, gap=0.05), 1.5))
    running.run(running.python(NOTHING_TO_DO))
    ran = running.run(running.prompt("Go."), cell_id="c1")
    assert ran.status == "ok", ran.error
    shown = next(n for n, each in enumerate(ran.messages) if VIEW in each["content"].get("data", {}))
    changed = [each for each in ran.messages[shown:] if each["header"]["msg_type"] == "comm_msg"]
    times = [each["header"]["date"].timestamp() for each in changed]
    assert len(times) > 10
    assert max(sum(begin <= each < begin + 1 for each in times) for begin in times) <= 10
    spoken = [at for at, each in zip(times, changed, strict=True) if 'role=\\"status\\"' in json.dumps(each["content"])]
    assert spoken
    assert all(later - before > 0.9 for before, later in pairwise(spoken))


def test_a_long_answer_with_everything_around_it_costs_at_most_three_times_its_size(running, scripted):
    text = "".join(f"Paragraph {n} says **something** of moderate length about number {n}.\n\n" for n in range(2_900))
    scripted(say([text[n : n + 20] for n in range(0, len(text), 20)]), say("Again."))
    ran = running.run(running.prompt("Write much."), cell_id="c1", timeout=90)
    assert "".join(each.rstrip("\n") + "\n\n" for each in ran.shown("text/markdown")) == text
    sent = sum(len(json.dumps(each["content"])) for each in ran.messages)
    print(f"{len(text):,} characters: {sent / len(text):.2f} times their size in {ran.seconds:.1f} s")
    assert sent <= 3 * len(text)
    seconds = Counter(int(each["header"]["date"].timestamp()) for each in ran.messages)
    assert max(seconds.values()) < 200


SIGNALS = "(__import__('signal').getsignal(2), get_ipython().kernel.saved_sigint_handler)"
"""Who hears Interrupt in a cell, and who will after it."""


def test_a_page_hears_what_kernel_this_is_while_a_cell_awaits_and_the_cell_goes_on_as_before(running):
    """Without it a page that was loaded anew knows of no subshell, and one that was slow knows of no widgets."""
    before = running.value(SIGNALS)
    code = (
        "import asyncio\nprint('ready', flush=True)\nfor n in range(20):\n    await asyncio.sleep(0.1)\nprint('mine')"
    )
    sent = running.send(running.python(code))
    seen = running.until(sent, "ready")
    asked = running.client.kernel_info()
    reply = running.client.get_shell_msg(timeout=PATIENCE)
    assert reply["parent_header"]["msg_id"] == asked
    assert "kernel subshells" in reply["content"]["supported_features"]
    asked = running.client.comm_info(target_name="jupyter.widget")
    reply = running.client.get_shell_msg(timeout=PATIENCE)
    assert (reply["parent_header"]["msg_id"], reply["content"]["status"]) == (asked, "ok")
    ran = running.finish(sent, seen=seen)
    assert ran.stdout == "ready\nmine\n"
    assert running.value(SIGNALS) == before


PRESSED = """
import asyncio, signal
handlers = get_ipython().kernel.shell_handlers
usual = handlers["kernel_info_request"]
def pressed(*message):
    signal.raise_signal(signal.SIGINT)
    return usual(*message)
handlers["kernel_info_request"] = pressed
try:
    print("ready", flush=True)
    await asyncio.sleep(60)
finally:
    handlers["kernel_info_request"] = usual
"""


def test_an_interrupt_while_a_page_is_told_what_kernel_this_is_ends_the_cell_and_the_page_is_told(running):
    """A page asks that whenever it is loaded, and whoever runs a notebook asks it to wake a cell that awaits."""
    before = running.value(SIGNALS)
    sent = running.send(running.python(PRESSED))
    seen = running.until(sent, "ready")
    asked = running.client.kernel_info()
    reply = running.client.get_shell_msg(timeout=PATIENCE)
    assert reply["parent_header"]["msg_id"] == asked
    ran = running.finish(sent, seen=seen)
    assert ran.reply["ename"] == "CancelledError"
    assert running.value(SIGNALS) == before


LATE = """
import asyncio, threading
kernel = get_ipython().kernel
usual = kernel.shell_handlers["kernel_info_request"]
asked, answered, begun = asyncio.Event(), asyncio.Event(), asyncio.Event()
async def late(*message):
    kernel.shell_handlers["kernel_info_request"] = usual
    asked.set()
    {wait}
    await usual(*message)
    answered.set()
kernel.shell_handlers["kernel_info_request"] = late
print("ready", flush=True)
await asked.wait()
"""
"""A cell that has ended before a page that asked beside it is told."""
NEXT = """
begun.set()
await answered.wait()
for _ in range(9):
    await asyncio.sleep(0)
shown = threading.Thread(target=display, args=("of the next",))
shown.start()
shown.join()
"""


def test_a_page_that_is_told_late_does_not_take_the_kernel_for_busy(running):
    wait = "while kernel._main_asyncio_lock.locked(): await asyncio.sleep(0)"
    sent = running.send(running.python(LATE.format(wait=wait)))
    running.until(sent, "ready")
    asked = running.client.kernel_info()
    while running.client.get_shell_msg(timeout=PATIENCE)["parent_header"]["msg_id"] != asked:
        pass
    after, last = running.client.kernel_info(), None
    while (message := running.client.get_iopub_msg(timeout=PATIENCE))["parent_header"].get("msg_id") != after:
        last = message["content"].get("execution_state", last)
    assert last == "idle"
    while running.client.get_shell_msg(timeout=PATIENCE)["parent_header"]["msg_id"] != after:
        pass


def test_what_the_next_cell_shows_is_its_own_when_a_page_was_told_late(running):
    sent = running.send(running.python(LATE.format(wait="await begun.wait()")))
    running.until(sent, "ready")
    asked = running.client.kernel_info()
    ran = running.run(running.python(NEXT))
    assert ran.status == "ok", ran.error
    assert ran.shown("text/plain") == ["'of the next'"], asked


def test_a_message_that_comes_while_a_reply_is_sent_is_answered(running):
    """One in forty is left unread by ipykernel 7.3, and the first cell of a page waits for ever then."""
    session = running.client.session
    with zmq.Context() as context:
        for n in range(400):
            gone, page = context.socket(zmq.DEALER), context.socket(zmq.DEALER)
            for socket in (gone, page):
                socket.connect(f"tcp://127.0.0.1:{running.manager.shell_port}")
            session.send(gone, "kernel_info_request", {})
            time.sleep(n % 40 / 10_000)  # in which the kernel comes to its reply
            session.send(page, "kernel_info_request", {})
            gone.close(linger=1000)  # as a server's that has asked whether the kernel is there
            answered = page.poll(PATIENCE * 1000)
            page.close(linger=0)
            assert answered, f"page {n} waits for ever"
