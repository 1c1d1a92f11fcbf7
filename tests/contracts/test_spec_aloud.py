"""What tools print and display in a spec: in the order of their calls, whoever was faster, and nothing is lost."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_kernel import Agent, tool
from hermes_kernel.core.question import Question
from hermes_kernel.testing import ScriptedModel, calls, say
from hermes_kernel.world.tools.aloud import Voices
from tests.soon import SOON


class Stage(io.StringIO):
    """A stream; `heard` is set once these words were written."""

    def __init__(self, words: str = "") -> None:
        super().__init__()
        self.words, self.heard = words, threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if self.words and self.words in self.getvalue():
            self.heard.set()
        return written


def spec(home: Path, *tools: Any, wanted: list[tuple[str, dict[str, Any]]], **more: Any) -> Agent:
    return Agent(ScriptedModel([calls(wanted), say("Done.")]), tools, home=home, spec=True, approvals="allow", **more)


@pytest.mark.parametrize("seconds", [(0.1, 0.0, 0.05), (0.0, 0.1, 0.0)])
async def test_what_they_print_is_heard_in_the_order_of_the_calls(tmp_path, monkeypatch, seconds):
    monkeypatch.setattr(sys, "stdout", stage := Stage())

    @tool
    def chatty(n: int) -> str:
        """Talk."""
        print(f"{n} begins")
        time.sleep(seconds[n])
        print(f"{n} ends with {object()}")
        return ""

    @tool
    async def calm(n: int) -> str:
        """Talk without a thread."""
        await asyncio.sleep(seconds[n])
        print(f"{n} is calm")
        return ""

    talk = ("python", {"code": "print('python', object())"})
    wanted = [("chatty", {"n": 0}), ("calm", {"n": 1}), ("nothing", {}), talk, ("chatty", {"n": 2})]
    async with spec(tmp_path, chatty, calm, wanted=wanted) as agent:
        await agent.ask("Go.")
    assert stage.getvalue().splitlines() == [
        "0 begins", "0 ends with <object object at 0x…>", "1 is calm", "python <object object at 0x…>",
        "2 begins", "2 ends with <object object at 0x…>",
    ]  # fmt: skip
    assert sys.stdout is stage


async def test_the_first_that_goes_on_is_heard_as_it_speaks(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", stage := Stage("still at it"))

    @tool
    def quick() -> str:
        """End at once."""
        return ""

    @tool
    def long() -> str:
        """Take as long as it takes to be heard."""
        print("still at it")
        assert stage.heard.wait(SOON)
        return "heard"

    async with spec(tmp_path, quick, long, wanted=[("quick", {}), ("long", {})]) as agent:
        turn = await agent.ask("Go.")
    assert "heard" in str(turn.messages)


async def test_what_was_printed_before_a_stop_is_not_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", stage := Stage())

    @tool
    async def hangs() -> str:
        """Never end."""
        await asyncio.Event().wait()
        return ""

    @tool
    async def presses() -> str:
        """Say a last word."""
        print("a last word")
        agent.stop()
        return ""

    async with spec(tmp_path, hangs, presses, wanted=[("hangs", {}), ("presses", {})]) as agent:
        await agent.ask("Go.")
    assert stage.getvalue() == "a last word\n"


async def test_a_question_is_shown_while_others_before_it_are_at_work(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", stage := Stage("asked"))

    class Person:
        present = True

        async def ask(self, question: Question) -> str:
            print("asked", question.text)
            return "yes"

    @tool
    def works() -> str:
        """Go on until the question is seen."""
        assert stage.heard.wait(SOON)
        return "seen"

    wanted = [("works", {}), ("clarify", {"question": "Shall I?"})]
    async with spec(tmp_path, works, wanted=wanted, person=Person()) as agent:
        turn = await agent.ask("Go.")
    assert "seen" in str(turn.messages)


async def test_displays_keep_their_place_among_words_and_pictures_their_bytes(monkeypatch):
    monkeypatch.setattr(sys, "stdout", stage := Stage())
    shown = SimpleNamespace(publish=lambda data, **_: stage.write(f"{data}\n"))
    voices = Voices(2, str.upper)

    async def call(at: int) -> None:
        voices.begins(at)
        print(f"word {at}")
        shown.publish({"text/plain": f"display {at}", "image/png": "bytes"}, metadata={})
        print(f"end {at}")
        voices.ends(at)

    with voices.in_order(shown):
        await asyncio.create_task(call(1))
        await asyncio.create_task(call(0))
    one, other = (
        [f"WORD {at}", str({"text/plain": f"DISPLAY {at}", "image/png": "bytes"}), f"END {at}"] for at in (0, 1)
    )
    assert stage.getvalue().splitlines() == [*one, *other]
