"""Real kernels in processes of their own, spoken to as a front end speaks to them, and a scripted model on loopback.

``HERMES_TEST_PYTHONS`` names more interpreters whose kernels are held to the same claims, such as one with ipykernel 7.3:
``/path/to/python`` with commas between.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import pytest
import zmq
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec

from hermes_kernel.testing import Server
from tests.kernels import Started

ROOT = Path(__file__).parents[2]
PYTHONS = (sys.executable, *(each for each in os.environ.get("HERMES_TEST_PYTHONS", "").split(",") if each))
LAUNCH = {
    "hermes": (["-m", "hermes_kernel.kernel"], "message"),
    "python3": (["-m", "ipykernel_launcher"], "signal"),
}


@dataclass
class Ran:
    """What came of a cell."""

    reply: dict[str, Any]
    messages: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def status(self) -> str:
        return self.reply["status"]

    @property
    def error(self) -> str:
        return "\n".join(self.of("error")[0]["traceback"]) if self.of("error") else ""

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message["content"] for message in self.messages if message["header"]["msg_type"] == kind]

    @property
    def stdout(self) -> str:
        return "".join(each["text"] for each in self.of("stream") if each["name"] == "stdout")

    def shown(self, mime: str = "text/plain") -> list[str]:
        """What stays in a notebook: displays after their updates, and the result."""
        spots: dict[Any, dict[str, Any]] = {}
        for n, message in enumerate(self.messages):
            kind, content = message["header"]["msg_type"], message["content"]
            if kind in ("display_data", "update_display_data", "execute_result"):
                spots[content.get("transient", {}).get("display_id", n)] = content["data"]
        return [data[mime] for data in spots.values() if mime in data]

    @property
    def text(self) -> str:
        return "\n".join([self.stdout, *self.shown()])


class Kernel:
    """One kernel and the front end that speaks to it."""

    def __init__(self, name: str, python: str, home: Path, **environ: str) -> None:
        arguments, interrupt = LAUNCH[name]
        self.name = name
        self.interpreter = python
        self.home = home
        spec = KernelSpec(
            argv=[python, "-Xfrozen_modules=off", *arguments, "-f", "{connection_file}"],
            interrupt_mode=interrupt, display_name=name, language="python",
        )  # fmt: skip
        ours = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_"))}
        ours |= {
            "HERMES_HOME": str(home),
            "HERMES_LEARNING": "off",  # whoever tests a slow loop sets it going
            "HERMES_API_KEY": "none",
            "HERMES_MODEL": "scripted",
            "PYTHONPATH": str(ROOT),
        }
        ours |= {"IPYTHONDIR": str(home / "ipython"), "HERMES_BASE_URL": "http://127.0.0.1:9/v1"} | environ
        self._started = Started(partial(_manager, spec), env=ours, cwd=str(home))
        self.manager, self.client = self._started.manager, self._started.client
        if name == "python3":
            self.run("%load_ext magics")

    @cached_property
    def subshell(self) -> str:
        """A subshell as pages open one for the messages of widgets; none where the kernel handles them beside a cell."""
        if not ipykernel_of(self.interpreter).startswith("7.3"):
            return ""
        self.client.control_channel.send(self.client.session.msg("create_subshell_request"))
        subshell: str = self.client.get_control_msg(timeout=20)["content"]["subshell_id"]
        return subshell

    def close(self) -> None:
        self._started.close()

    # --- cells

    def prompt(self, text: str, options: str = "") -> str:
        """The cell that asks `text`."""
        return text if self.name == "hermes" and not options else f"%%hermes {options}\n{text}"

    def python(self, code: str) -> str:
        """The cell that runs `code`."""
        return f"%%py\n{code}" if self.name == "hermes" else code

    def send(self, code: str, *, cell_id: str = "", stdin: bool = False, **content: Any) -> str:
        """Run a cell without waiting. A `cell_id` is what notebooks send."""
        session = self.client.session
        asked = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": stdin,
            "stop_on_error": True,
        }
        message = session.msg("execute_request", asked | content, metadata={"cellId": cell_id} if cell_id else {})
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def run(self, code: str, *, timeout: float = 30, answer: Callable[[str], str] | None = None, **how: Any) -> Ran:
        """Run a cell to its end; `answer` says what a person types."""
        began = time.perf_counter()
        sent = self.send(code, stdin=answer is not None, **how)
        return self.finish(sent, timeout=timeout, answer=answer, began=began)

    def finish(
        self, sent: str, *, timeout: float = 30, answer: Callable[[str], str] | None = None, began: float = 0.0,
        seen: list[dict[str, Any]] | None = None,
    ) -> Ran:  # fmt: skip
        """What came of a cell that was sent."""
        end = time.monotonic() + timeout
        messages, reply = list(seen or []), None
        idle = any(_idle(each, sent) for each in messages)
        replied = 0.0
        while reply is None or not idle:
            assert time.monotonic() < end, (
                f"no {'idle' if reply else 'reply'} within {timeout} s: {[m['content'] for m in messages][-3:]}"
            )
            self._wait(shell=reply is None, iopub=not idle, stdin=answer is not None)
            if answer and self.client.stdin_channel.msg_ready():
                self.client.input(answer(self.client.get_stdin_msg(timeout=0.1)["content"]["prompt"]))
            if reply is None and (message := self._next(self.client.get_shell_msg, sent)) is not None:
                reply, replied = message["content"], time.perf_counter()
            if not idle and (message := self._next(self.client.get_iopub_msg, sent)) is not None:
                messages.append(message)
                idle = idle or _idle(message, sent)
        return Ran(reply, messages, replied - began)

    def until(self, sent: str, words: str, timeout: float = 30) -> list[dict[str, Any]]:
        """The messages of a running cell up to the one that holds `words`."""
        end = time.monotonic() + timeout
        messages: list[dict[str, Any]] = []
        while not (messages and words in str(messages[-1]["content"])):
            assert time.monotonic() < end, (
                f"{words!r} is not shown within {timeout} s: {[m['content'] for m in messages][-3:]}"
            )
            if (message := self._next(self.client.get_iopub_msg, None, timeout=0.5)) is not None:
                messages.append(message)
        return [each for each in messages if each["parent_header"].get("msg_id") == sent]

    def interrupt(self) -> float:
        """Press Interrupt; when that was."""
        pressed = time.perf_counter()
        self.manager.interrupt_kernel()
        return pressed

    def ask_server(self, server: Server) -> None:
        """Point this kernel's agent at another server, in a conversation of its own."""
        assert self.run(f"%config HermesMagics.base_url = {server.url!r}").status == "ok"
        assert self.run("%hermes new").status == "ok"

    def value(self, expression: str) -> str:
        """`repr` of an expression in the notebook."""
        ran = self.run(self.python(f"print(repr({expression}))"))
        assert ran.status == "ok", ran.error
        return ran.stdout.strip()

    def _wait(self, seconds: float = 0.5, **channels: bool) -> None:
        """Until one of these channels has something to say, or for so long."""
        heard = [getattr(self.client, f"{name}_channel").socket for name, listen in channels.items() if listen]
        zmq.select(heard, [], [], seconds)

    def _next(self, get: Callable[..., dict[str, Any]], sent: str | None, timeout: float = 0) -> dict[str, Any] | None:
        try:
            message = get(timeout=timeout)
        except queue.Empty:
            return None
        return message if sent is None or message["parent_header"].get("msg_id") == sent else None


def _manager(spec: KernelSpec) -> KernelManager:
    made = KernelManager()
    made._kernel_spec = spec
    return made


def _idle(message: dict[str, Any], sent: str) -> bool:
    of_cell = message["parent_header"].get("msg_id") == sent
    return of_cell and message["header"]["msg_type"] == "status" and message["content"]["execution_state"] == "idle"


@cache
def ipykernel_of(python: str) -> str:
    """The version of ipykernel that an interpreter has."""
    asked = [python, "-c", "import ipykernel; print(ipykernel.__version__)"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


KINDS = [pytest.param((name, python), id=f"{name}-{ipykernel_of(python)}") for python in PYTHONS for name in LAUNCH]


ALL = tuple(kind.values[0] for kind in KINDS)
PAIRED = (("hermes", PYTHONS[0]), ("python3", PYTHONS[-1]))
"""Our kernel on the newest ipykernel there is, and the stock one on the oldest."""
EACH = {f"test_{name}.py" for name in ("comms", "interrupts", "questions")}
"""What hangs on how a kernel hears: held in each kind."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What has nothing to do with how a kernel hears is held in two kinds that differ in everything."""
    left = [item for item in items if _in_a_third_kind(item)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


def _in_a_third_kind(item: pytest.Item) -> bool:
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    third = any(value in ALL and value not in PAIRED for value in given)
    return third and item.path.name not in EACH


@pytest.fixture(scope="module", params=KINDS)
def running(request, tmp_path_factory) -> Iterator[Kernel]:
    """Each kind of kernel, started once in each file: no file finds what another left in its home."""
    kernel = Kernel(*request.param, tmp_path_factory.mktemp("home"))
    yield kernel
    kernel.close()


@pytest.fixture
def scripted(running) -> Iterator[Callable[..., Server]]:
    """``scripted(*steps)`` starts a server with these answers and points the kernel at it."""
    servers: list[Server] = []

    def start(*steps: Any) -> Server:
        server = Server(list(steps)).start()
        servers.append(server)
        running.ask_server(server)
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def hermes(tmp_path_factory) -> Iterator[Kernel]:
    """The kernel `hermes` alone, for what only it does."""
    kernel = Kernel("hermes", sys.executable, tmp_path_factory.mktemp("home"))
    yield kernel
    kernel.close()
