"""The scripted server in a process of its own, so that its work is not counted as the client's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen

from hermes_kernel.testing import Request, Server, Step, call, calls, say

CHUNKS = 20_000
ANSWER = say(["word "] * CHUNKS)


def loop(request: Request) -> Step:
    """A tool call for each iteration until the prompt's number is reached: ``iterate 50``."""
    wanted = int(str(request.messages[1]["content"]).split()[-1])
    done = sum(message["role"] == "assistant" for message in request.messages)
    return say("done") if done >= wanted else call("probe", {"number": done})


def batch(request: Request) -> Step:
    """Eight calls of one tool, then an answer."""
    done = any(message["role"] == "tool" for message in request.messages)
    return say("done") if done else calls([("nap", {"number": n}) for n in range(8)])


def chunks(_: Request) -> Step:
    """One long answer in small pieces."""
    return ANSWER


SCRIPTS = {"loop": loop, "batch": batch, "chunks": chunks}


@contextmanager
def serving(script: str) -> Iterator[str]:
    """The base URL of a server that follows one of `SCRIPTS`."""
    with Popen([sys.executable, "-m", "tests.bench.serving", script], stdout=PIPE, stdin=PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


if __name__ == "__main__":
    with Server(SCRIPTS[sys.argv[1]]) as server:
        print(server.url, flush=True)
        sys.stdin.read()
