"""A model that takes no time, in a process of its own: what is measured is the client, and nothing of the server.

Answers are rendered once and written whole, each event in an HTTP chunk of its own, as servers do. What is said follows
from the prompt, so that one server serves every contender:

- ``loop 50``: a call of ``probe`` in each of 50 replies, then an answer;
- ``chunks 20000``: one answer in so many pieces; ``paragraphs 2900``: one of so many paragraphs;
- ``batch 8``: so many calls of ``nap`` in one reply, then an answer;
- ``silent 1``: a piece of an answer, then nothing; ``unanswered 1``: nothing at all; ``busy 1``: 503, and to wait half a
  minute;
- ``stall 1``: a piece of an answer, silence for 20 s, the rest; whoever asks again is answered at once.

A ``final_answer`` is called by that name where a tool of that name is offered.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from subprocess import PIPE, Popen
from typing import Any

SILENCE = 20.0
"""Seconds that a stalled stream says nothing."""

FOREVER = 3600.0
ASKED = re.compile(r"\b(loop|chunks|paragraphs|batch|silent|unanswered|busy|stall) (\d+)\b")
MODELS = {"object": "list", "data": [{"id": "any", "object": "model", "context_length": 10_000_000}]}
BUSY = b"HTTP/1.1 503 Busy\r\ncontent-type: application/json\r\nretry-after: 30\r\ncontent-length: 2\r\n\r\n{}"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"

Delta = dict[str, Any]


# --- what is said -----------------------------------------------------------------------------------------------------


def wanted(body: dict[str, Any]) -> tuple[str, int, int]:
    """What the last prompt asks for, with its number, and how many replies there were since."""
    for at in range(len(body["messages"]) - 1, -1, -1):
        message = body["messages"][at]
        if message["role"] == "user" and (found := ASKED.findall(_text(message))):
            script, number = found[-1]
            return script, int(number), sum(each["role"] == "assistant" for each in body["messages"][at:])
    return "chunks", 1, 0


def said(body: dict[str, Any]) -> list[Delta]:
    """The deltas of the reply to a request."""
    script, number, replies = wanted(body)
    if script == "loop" and replies < number:
        return [called(("probe", {"number": replies}))]
    if script == "batch" and not replies:
        return [called(*(("nap", {"number": each}) for each in range(number)))]
    told: list[Delta] = [{"content": "word "}] * (number if script == "chunks" else 1)
    if script == "paragraphs":
        told = [{"content": piece} for piece in pieces(number)]
    if any(tool["function"]["name"] == "final_answer" for tool in body.get("tools") or ()):
        told.append(called(("final_answer", {"answer": "done"})))
    return told


def pieces(paragraphs: int) -> list[str]:
    """Of a text with a little Markdown, as tokens come: some at once."""
    text = "".join(f"Paragraph {n} says **something** of moderate length about it.\n\n" for n in range(paragraphs))
    return [text[at : at + 20] for at in range(0, len(text), 20)]


def called(*calls: tuple[str, dict[str, Any]]) -> Delta:
    """One delta with whole calls, whose ids differ from those of any other reply of the same loop."""
    return {
        "tool_calls": [
            {
                "index": at,
                "id": f"call_{name}_{next(iter(given.values()))}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for at, (name, given) in enumerate(calls)
        ]
    }


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


# --- as bytes ---------------------------------------------------------------------------------------------------------


def events(deltas: list[Delta], *, usage: bool) -> Iterator[dict[str, Any]]:
    reason = "tool_calls" if "tool_calls" in deltas[-1] else "stop"
    for delta in [{"role": "assistant", "content": ""}, *deltas]:
        yield _event([{"index": 0, "delta": delta, "finish_reason": None}])
    yield _event([{"index": 0, "delta": {}, "finish_reason": reason}])
    if usage:
        yield _event([]) | {"usage": USAGE}


@lru_cache(maxsize=4)
def streamed(told: str, usage: bool) -> tuple[bytes, ...]:
    """A reply's HTTP chunks; of the answer with many pieces they are rendered once."""
    lines = [f"data: {json.dumps(each)}\n\n".encode() for each in events(json.loads(told), usage=usage)]
    return tuple(b"%x\r\n%b\r\n" % (len(line), line) for line in [*lines, b"data: [DONE]\n\n"])


def whole(deltas: list[Delta]) -> bytes:
    """A reply in one piece."""
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    text = "".join(delta.get("content", "") for delta in deltas)
    message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return page(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "any", "choices": [choice], "usage": USAGE}
    )


def page(value: object, status: str = "200 OK") -> bytes:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _event(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "any", "choices": choices}


# --- over HTTP --------------------------------------------------------------------------------------------------------


class Service:
    """Answers each connection; knows which stalls there were."""

    def __init__(self) -> None:
        self._stalled = set[int]()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"(?im)^content-length: *(\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                await self._answered(head.split()[1], body, writer)
                await writer.drain()
        writer.close()

    async def _answered(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if path.endswith("/chat/completions"):
            await self._said(json.loads(body), writer)
        else:
            writer.write(page(MODELS) if path.endswith("/models") else page({}, "404 Not Found"))

    async def _said(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        script, number, _ = wanted(body)
        if script == "busy":
            writer.write(BUSY)
            return
        if script == "unanswered":
            await asyncio.sleep(FOREVER)
        deltas = said(body)
        if not body.get("stream"):
            writer.write(whole(deltas))
            return
        options = body.get("stream_options") or {}
        first, second, *rest = streamed(json.dumps(deltas), bool(options.get("include_usage")))
        writer.write(STREAM + first + second)
        await asyncio.sleep(self._silence(script, number))
        writer.write(b"".join(rest) + LAST)

    def _silence(self, script: str, number: int) -> float:
        if script == "stall" and number not in self._stalled:
            self._stalled.add(number)
            return SILENCE
        return FOREVER if script == "silent" else 0.0


async def serve() -> None:
    """Until stdin is closed."""
    listener = await asyncio.start_server(Service().connected, "127.0.0.1", 0, limit=2**26)
    print(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of a server."""
    with Popen([sys.executable, "-m", "tests.bench.serving"], stdout=PIPE, stdin=PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


if __name__ == "__main__":
    asyncio.run(serve())
