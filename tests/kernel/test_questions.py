"""Questions in a notebook's output, pressed over comm messages as a page presses them: answers arrive while the cell
runs, nobody is waited for longer than was said, and nothing hostile is more than words.
"""

from __future__ import annotations

import time

import pytest

from hermes_kernel.testing import call, forever, say

PATIENCE = 60.0  # seconds; nothing is tested by them
COLOURS = call("clarify", {"question": "Red or blue?", "choices": ["red", "blue"]})
RISKY = call("terminal", {"command": "rm -rf ./thing-that-is-not-there\x1b[2K # \u202egnp.exe"})
BAD = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "a</pre><svg onload=alert(3)>",
    '"><iframe src=javascript:alert(4)>',
    "\x1b[31mred\x1b[0m \u202etxt.exe",
    "$x$ `code` [a](javascript:alert(5))",
)


class Seen:
    """What a page knows of a cell that runs: its messages, and the models that are told in them."""

    def __init__(self, kernel, sent: str) -> None:
        self.kernel = kernel
        self.sent = sent
        self.messages: list[dict] = []

    def until(self, seen, what: str):
        """Listen until `seen` has something to say, and say it."""
        end = time.monotonic() + PATIENCE
        while not (found := seen()):
            assert time.monotonic() < end, f"{what} is not shown: {[m['content'] for m in self.messages][-3:]}"
            self.listen()
        return found

    def listen(self) -> None:
        message = self.kernel._next(self.kernel.client.get_iopub_msg, None, timeout=0.5)
        if message is not None:
            self.messages.append(message)

    @property
    def models(self) -> dict[str, dict]:
        found: dict[str, dict] = {}
        for message in self.messages:
            content = message["content"]
            match message["header"]["msg_type"]:
                case "comm_open":
                    found[content["comm_id"]] = dict(content["data"]["state"])
                case "comm_msg" if content["data"].get("method") == "update":
                    found.setdefault(content["comm_id"], {}).update(content["data"]["state"])
                case "comm_close":
                    found.pop(content["comm_id"], None)
        return found

    def of(self, view: str) -> dict[str, dict]:
        """Models of this kind that can be seen: they stand on a stage."""
        models = self.models
        above = {c.removeprefix("IPY_MODEL_"): m for m, s in models.items() for c in s.get("children", ())}

        def staged(model: str | None) -> bool:
            return model in models and ("hermes-panel" in models[model]["_dom_classes"] or staged(above.get(model)))

        return {m: s for m, s in models.items() if s.get("_view_name") == view and staged(m)}

    @property
    def html(self) -> str:
        return "\n".join(state["value"] for state in self.of("HTMLView").values())

    def shows(self, *words: str) -> None:
        for each in words:
            self.until(lambda each=each: each in self.html, repr(each))

    def buttons(self, *labels: str) -> dict[str, str]:
        """Models of buttons by label, once these are all there."""

        def named() -> dict[str, str]:
            all_of = {state["description"]: model for model, state in self.of("ButtonView").items()}
            return all_of if set(labels) <= set(all_of) else {}

        return self.until(named, f"buttons {labels}")

    def press(self, label: str) -> None:
        self.say(self.buttons(label)[label], {"method": "custom", "content": {"event": "click"}})

    def write(self, text: str, *, enter: bool = True, change: bool = True) -> None:
        """Write in the field, in the order in which a browser tells of it."""
        (field,) = self.until(lambda: self.of("TextView"), "a field")
        if enter:
            self.say(field, {"method": "custom", "content": {"event": "submit"}})
        if change:
            self.say(field, {"method": "update", "state": {"value": text}, "buffer_paths": []})

    def say(self, model: str, data: dict) -> None:
        message = self.kernel.client.session.msg("comm_msg", {"comm_id": model, "data": data})
        if self.kernel.subshell:
            message["header"]["subshell_id"] = self.kernel.subshell
        self.kernel.client.shell_channel.send(message)

    def finish(self):
        mine = [each for each in self.messages if each["parent_header"].get("msg_id") == self.sent]
        ran = self.kernel.finish(self.sent, seen=mine)
        self.messages += ran.messages[len(mine) :]
        return ran


@pytest.fixture
def asked(running, scripted):
    """``asked(step)`` runs a cell in a notebook whose model asks by `step`; what the model is told is in ``told``."""

    def start(step, **settings):
        server = scripted(step, forever(say("Good.")))
        for name, value in settings.items():
            running.run(f"%config HermesMagics.{name} = {value}")
        seen = Seen(running, running.send(running.prompt("Go."), cell_id="c1", stdin=True))
        seen.told = lambda: [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"][-1]
        return seen

    yield start
    running.run("%config HermesMagics.answer_seconds = 3600")


def leaves_nothing(seen, ran) -> None:
    """The cell ended well, and no control of it is left."""
    assert ran.status == "ok", ran.error
    assert [s for s in seen.models.values() if s.get("_view_name") in ("ButtonView", "TextView")] == []
    assert ran.shown("application/vnd.jupyter.widget-view+json") == []


def test_a_choice_is_a_button_and_a_line_of_it_stays(asked):
    seen = asked(COLOURS)
    assert {"red", "blue", "Send"} <= seen.buttons("red", "blue", "Send").keys()
    seen.shows("Red or blue?")
    seen.shows("Without an answer: red, in 60 min · Tab goes to the buttons")
    seen.press("blue")
    ran = seen.finish()
    leaves_nothing(seen, ran)
    assert seen.told() == "blue"
    assert "Red or blue? blue" in ran.text.splitlines()


def test_what_is_written_is_sent_by_enter_whether_it_was_known_before_or_not(asked):
    seen = asked(COLOURS)
    seen.write("first thought", enter=False)
    seen.write("green")
    leaves_nothing(seen, seen.finish())
    assert seen.told() == "green"
    seen = asked(COLOURS)
    seen.write("mauve", enter=False)
    seen.write("", change=False)
    leaves_nothing(seen, seen.finish())
    assert seen.told() == "mauve"


def test_what_is_written_is_sent_by_the_button_and_nothing_is_no_answer(asked):
    seen = asked(COLOURS)
    seen.press("Send")
    seen.write("  ")
    seen.write("pink", enter=False)
    seen.press("Send")
    leaves_nothing(seen, seen.finish())
    assert seen.told() == "pink"


def test_a_call_that_needs_a_word_is_shown_whole_and_says_what_each_choice_covers(asked, running):
    seen = asked(RISKY)
    labels = list(seen.buttons("once", "this session", "always", "no"))
    assert labels[labels.index("once") :][:4] == ["once", "this session", "always", "no"]
    seen.shows("terminal needs your word, because")
    seen.shows("command: rm -rf ./thing-that-is-not-there\\u001b[2K # \\u202egnp.exe")
    seen.shows("this call", "in this session", "now and in all sessions", "it is not run")
    assert not seen.of("TextView"), "no other words allow anything"
    seen.press("no")
    leaves_nothing(seen, seen.finish())
    assert "the person said no" in seen.told()
    seen = asked(RISKY)
    seen.press("once")
    leaves_nothing(seen, seen.finish())
    assert "Not run" not in seen.told()


def test_nobody_is_waited_for_longer_than_was_said_and_the_model_is_told(asked):
    seen = asked(RISKY, answer_seconds=1.5)
    seen.buttons("once")
    seen.shows("Without an answer: no, in 2 s")
    ran = seen.finish()
    leaves_nothing(seen, ran)
    assert "nobody answered" in seen.told()
    assert "(nobody answered: no)" in ran.text
    seen = asked(COLOURS, answer_seconds=1)
    ran = seen.finish()
    leaves_nothing(seen, ran)
    assert seen.told() == 'Nobody answered: take "red", your first choice, and say in your answer what you assumed.'
    assert "(nobody answered: red)" in ran.text


def test_the_time_that_is_left_is_told_to_eyes_alone(asked):
    seen = asked(COLOURS, answer_seconds=3)
    seen.buttons("red")
    told = seen.until(
        lambda: [m for m in seen.messages if ", in 1 s" in str(m["content"].get("data"))], "the last second"
    )
    assert all("alert" not in str(m["content"]["data"]) and "status" not in str(m["content"]["data"]) for m in told)
    seen.press("red")
    leaves_nothing(seen, seen.finish())


def test_a_question_for_ever_says_nothing_of_time(asked):
    seen = asked(COLOURS, answer_seconds=0)
    seen.buttons("red")
    assert "Without an answer" not in seen.html
    seen.press("red")
    leaves_nothing(seen, seen.finish())


def test_a_stop_takes_the_question_with_it_and_the_next_one_is_answered(asked, running):
    seen = asked(COLOURS)
    seen.buttons("red")
    running.interrupt()
    ran = seen.finish()
    assert ran.status == "error"
    assert ran.shown("application/vnd.jupyter.widget-view+json") == []
    assert "Red or blue? (not answered)" in ran.text
    seen = asked(COLOURS)
    seen.press("blue")
    leaves_nothing(seen, seen.finish())
    assert seen.told() == "blue"


def test_a_question_is_found_again_by_a_page_that_was_loaded_anew(asked, running):
    seen = asked(COLOURS)
    first = seen.buttons("red", "blue")
    request = running.client.session.msg(
        "comm_open", {"comm_id": "again", "target_name": "jupyter.widget.control", "data": {}},
        metadata={"version": "1.0.0"},
    )  # fmt: skip
    everything = running.client.session.msg("comm_msg", {"comm_id": "again", "data": {"method": "request_states"}})
    for message in (request, everything):
        if running.subshell:
            message["header"]["subshell_id"] = running.subshell
        running.client.shell_channel.send(message)
    states = seen.until(
        lambda: [m for m in seen.messages if m["content"].get("data", {}).get("method") == "update_states"],
        "all states",
    )[-1]["content"]["data"]["states"]
    assert {first["red"], first["blue"]} <= states.keys()
    children = {c.removeprefix("IPY_MODEL_") for s in states.values() for c in s["state"].get("children", ())}
    assert {first["red"], first["blue"]} <= children, "they stand in a box of the page"
    seen.press("blue")
    ran = seen.finish()
    assert ran.status == "ok", ran.error
    assert seen.told() == "blue"


@pytest.mark.parametrize("bad", BAD)
def test_hostile_words_are_words(asked, bad):
    seen = asked(call("clarify", {"question": f"Which? {bad}", "choices": ["fine", bad, (bad * 40)[:1_000]]}))
    labels = seen.buttons("fine")
    marks = ("<script", "<img", "<svg", "<iframe", "\x1b", "\u202e")
    assert [mark for mark in marks if mark in seen.html] == []
    assert [mark for mark in ("\x1b", "\u202e") for label in labels if mark in label] == []
    seen.press("fine")
    ran = seen.finish()
    leaves_nothing(seen, ran)
    assert [mark for mark in marks for shown in ran.shown("text/html") if mark in shown] == []
    assert seen.told() == "fine"


def test_hostile_input_of_a_tool_is_shown_as_code(asked):
    bad = " ".join(BAD)
    seen = asked(call("terminal", {"command": f"rm -rf ./nothing {bad}"}))
    seen.buttons("no")
    assert [mark for mark in ("<script", "<img", "<svg", "<iframe") if mark in seen.html] == []
    seen.shows("\\u202e")
    seen.press("no")
    leaves_nothing(seen, seen.finish())


def test_an_answer_to_a_question_whose_time_is_over_is_none_to_the_next_one(running, scripted):
    running.run("%config HermesMagics.answer_seconds = 1.2")
    server = scripted(RISKY, call("clarify", {"question": "Sure?"}), forever(say("Good.")))
    sent = running.send(running.prompt("Go."), stdin=True)
    prompts = [running.client.get_stdin_msg(timeout=20)["content"]["prompt"]]
    prompts.append(running.client.get_stdin_msg(timeout=20)["content"]["prompt"])
    for words in ("once", "sure"):  # a console shows one after the other
        running.client.input(words)
    ran = running.finish(sent)
    running.run("%config HermesMagics.answer_seconds = 3600")
    assert ran.status == "ok", ran.error
    assert "Without an answer: no, in 2 s." in prompts[0]
    assert "4. no: it is not run" in prompts[0]
    told = [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"]
    assert "nobody answered" in told[0]
    assert told[1] == "sure"
