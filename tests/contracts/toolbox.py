"""What the tools' tests share: a toolbox in a folder of its own, people who answer, and a batch run to its end."""

import asyncio
import json

from hermes_kernel.core.events import Observed
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tools


class Nobody:
    """A headless run."""

    present = False

    async def ask(self, question):
        raise AssertionError("nobody may be asked")


class Someone:
    """A person who gives one answer, after a while."""

    present = True

    def __init__(self, answer, seconds=0.0):
        self.answer = answer
        self.seconds = seconds
        self.questions, self.asked = [], []
        self.at_once = self.most_at_once = self.cancelled = 0

    async def ask(self, question):
        self.questions.append(question)
        self.asked.append(question.whole)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.at_once -= 1
        return self.answer


def toolbox(tmp_path, person=None, *, cwd=None, shell=None, namespace=None, **settings):
    home = tmp_path / "home"
    made = Tools(
        Settings(home=home, **settings),
        person=person,
        shell=shell,
        home=home,
        cwd=cwd or tmp_path,
        clock=SystemClock(),
        namespace=namespace,
    )
    return made.builtins()


async def run_calls(tools, *calls, stop=None, hear=lambda _: None):
    """All events of one batch; each call is (name, arguments as a value or as raw text). `hear` is given each when it
    comes."""
    asked = [
        ToolCall(f"call_{at}", name, given if isinstance(given, str) else json.dumps(given))
        for at, (name, given) in enumerate(calls)
    ]
    events = []
    async for event in tools.run(asked, stop or Stop()):
        hear(event)
        events.append(event)
    return events


def observed(events):
    """The one result among `events`."""
    (result,) = [event for event in events if isinstance(event, Observed)]
    return result
