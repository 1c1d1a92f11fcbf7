"""What servers send: streams, calls in pieces, complaints, lists of models, counts of tokens, headers."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from hermes_kernel.core.classify import classify
from hermes_kernel.core.events import Retracted, TextDelta
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.hold import Hold
from hermes_kernel.core.json_repair import is_object, mend
from hermes_kernel.core.json_state import State, json_state
from hermes_kernel.core.rescue import rescue
from hermes_kernel.core.stream import Stream
from hermes_kernel.core.trouble import Trouble, read_trouble
from hermes_kernel.core.windows import LEAST, MOST, known, more, window_in
from hermes_kernel.core.wire_usage import usage_in
from hermes_kernel.world.model.quirks import USUAL, Sent, learn
from hermes_kernel.world.model.rate import RateWindow
from hermes_kernel.world.model.reading import Reading
from tests.fuzz.target import Grain, said, target

OFFERED = frozenset({"price", "python"})
DELTA = b'data: {"choices":[{"index":0,"delta":{"content":"ab"}}]}\n\n'
CALL = (
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"price","arguments":"{\\"a\\":"}}]}}]}\n\n'
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":" 1}"}}]}}]}\n\n'
    b'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n'
    b"data: [DONE]\n\n"
)
WORDS = """data: event: id: retry: error: [DONE] : {"choices": "delta": "content": "reasoning_content": "tool_calls": "function":
    "arguments": "name": "index": "id": null true {} [] "" "finish_reason": "stop" "length" "tool_calls" "usage": "error": <think> </think>
    <tool_call> </tool_call> [TOOL_CALLS] [ARGS] <function=price> </function> ``` ```json \\ud83d \\"""


def ids() -> Any:
    numbers = count()
    return lambda: f"made{next(numbers):05d}"


def screen(events: list[Any]) -> str:
    """What a person sees in the end."""
    shown = ""
    for event in events:
        shown = "" if isinstance(event, Retracted) else shown + event.text if isinstance(event, TextDelta) else shown
    return shown


def read(blocks: list[bytes], offered: frozenset[str] = OFFERED) -> tuple[Any, str]:
    """What comes of a body, and what is on the screen then."""
    reading = Reading("", offered, ids())
    events: list[Any] = []
    for block in blocks:
        events += reading.feed(block)[0]
        if reading.is_hopeless:
            break
    more_events, end = reading.conclude(None)
    return end, screen(events + more_events)


def usable(calls: tuple[Any, ...], *, cut: bool) -> None:
    """Each call can be run, or says why not; none has the id of another, and none that was cut off can be run."""
    assert len({call.id for call in calls}) == len(calls)
    for call in calls:
        assert call.id
        assert "\n" not in call.flaw
        assert call.flaw or is_object(call.arguments), call
        if json_state(call.arguments) is State.PREFIX:
            assert call.flaw
        (call.id + call.name + call.arguments + call.flaw + call.extra).encode()
    assert not (cut and calls and not any(call.flaw for call in calls))


@target(DELTA + CALL, b"error: {}\n", b": keep-alive\n\n" + DELTA, b'{"choices":[{"message":{"content":"x"}}]}',
        b'{"error":{"message":"no"}}', b"<html>502</html>", b"\xef\xbb\xbf" + DELTA, DELTA.replace(b"\n", b"\r\n"),
        words=WORDS)  # fmt: skip
def sse(data: bytes) -> None:
    """A body means the same however it was cut, and is a reply or the trouble there was."""
    grain = Grain(data[-64:])
    end, shown = read([data])
    if isinstance(end, Trouble):
        assert classify(end) in Fault
        assert "\n" not in end.message
    else:
        usable(end.calls, cut=end.cut)
        assert shown == end.text
        assert read(list(grain.pieces(data))) == (end, shown)


@target(b"\0\1\2\3\4\5\6\7", bytes(range(200)), b'{"a": 1}' * 9)
def call_deltas(data: bytes) -> None:
    """Pieces of calls in any order, doubled, without id or index, of wrong types: calls that can be run, or flaws."""
    grain, stream = Grain(data), Stream()
    odd: tuple[Any, ...] = (
        None,
        "",
        0,
        1,
        1.5,
        -1,
        True,
        [],
        {},
        ["x"],
        "\ud83d",
        10**30,
        "c1",
        {"a": None},
        "price",
        "}",
    )
    pieces = ("{", "}", '{"a": ', "1", '"', "{}", '{"a": 1}', "\\", '\\"', "\n", "[", "]", '"}', "x", "'", "```json\n")
    for _ in range(grain.number(40)):
        function: Any = {"name": grain.one("price", None, "", "python", *odd), "arguments": grain.one(*pieces, *odd)}
        call = {"index": grain.one(0, 1, None, *odd), "id": grain.one("c1", None, "c2", *odd), "function": function}
        for name in ("index", "id", "function"):
            if grain.number(5) == 1:
                del call[name]
        delta = grain.one({"tool_calls": [call]}, {"tool_calls": call}, {"function_call": function}, {"tool_calls": [call, call]},
                          {"tool_calls": [None, 3, call]}, {"content": grain.one(*odd), "tool_calls": [call]})  # fmt: skip
        stream.feed({"choices": [{"delta": delta, "finish_reason": grain.one(None, "length", "tool_calls", *odd)}]})
    stream.close()
    reply = stream.reply(ids())
    usable(reply.calls, cut=reply.cut)


@target('{"a": 1}', "{'a': True,}", '```json\n{"a": 1}\n```', json.dumps(json.dumps({"a": 1})), '{"a": "x', "{“a”: `b`}",
        '{"a": NaN}', "[1]", words='{ } [ ] : , " \' ` ``` json true None NaN 1e999 // /* */ # \\ \\u12 \\n """')  # fmt: skip
def arguments(data: bytes) -> None:
    """Arguments are an object or have a flaw in one line; what is JSON stays as it is, and twice is once."""
    text = said(data)
    mended = mend(text)
    mended.arguments.encode()
    if mended.flaw:
        assert "\n" not in mended.flaw
        return
    value = json.loads(mended.arguments)
    assert isinstance(value, dict)
    assert mend(mended.arguments) == mended
    assert json_state(text) is not State.PREFIX or not text.strip()
    if is_object(text) and "NaN" not in text and "Infinity" not in text and "e" not in text.lower():
        assert value == json.loads(text.strip(), strict=False) or "\\u" in text or "\ufffd" in mended.arguments


@target('{"name": "price", "arguments": {"a": 1}}', "[TOOL_CALLS]price[ARGS]{}", '<function=price>{"a": 1}</function>',
        '<tool_call>\n{"name": "price", "arguments": {}}\n</tool_call>', "a < b", "```json\n[1]\n```", words=WORDS)  # fmt: skip
def written_calls(data: bytes) -> None:
    """Text in which calls may be written says the same however it comes; nothing is lost but what is a call."""
    text = data.decode("utf-8", "replace")
    calls, rest = rescue(text, OFFERED, ids())
    usable(calls, cut=False)
    assert calls or rest == text
    ends = []
    for pieces in ([text], [piece.decode("utf-8", "replace") for piece in Grain(data[:40]).pieces(text.encode())]):
        holding = Hold(OFFERED)
        shown = "".join(holding.feed(piece) for piece in pieces)
        left, found, cut = holding.close(ids(), limited=False)
        usable(found, cut=cut)
        assert found or shown + left == "".join(pieces)
        if "".join(pieces) == text:
            ends.append((shown + left, found, cut))
    assert ends[0] == ends[-1]


@target('{"error": {"message": "maximum context length is 8192 tokens, however you requested 9000", "code": 400}}',
        '{"detail": [{"loc": ["body", 1], "msg": "no"}]}', "<html><script>x</script>Bad gateway</html>", '["a"]',
        '{"object":"error","message":"tools is not supported","param":"tools","code":400}', words="error message detail code type "
        "param tokens maximum context length is 9 + > ( ) <script> </script> < > tools max_tokens unsupported null")  # fmt: skip
def complaints(data: bytes) -> None:
    """Whatever a server says of what went wrong is a fault with a name, in one line that moves no cursor."""
    grain = Grain(data[:1])
    text = data.decode("utf-8", "replace")
    for body in (text, json.dumps({"error": {"message": text}})):
        trouble = read_trouble(body, (0, 400, 404, 413, 422, 429, 500, 503)[grain.number(7)])
        assert classify(trouble) in Fault
        assert "\n" not in trouble.message
        assert "\x1b" not in trouble.message
        assert len(trouble.message) <= 300
        assert 0 <= trouble.asked < 10**13
        assert trouble.window == 0 or LEAST <= trouble.window <= MOST
        lesson = learn(USUAL, trouble, Sent(frozenset({"tools", "max_tokens", "temperature"}), images=True))
        assert lesson is None or lesson[0] != USUAL


@target('{"data":[{"id":"m","context_length":8192,"top_provider":{"max_completion_tokens":99999}}]}', '[{"id":"a:b"}]',
        '{"usage":{"prompt_tokens":1,"completion_tokens":1e308,"prompt_tokens_details":{"cached_tokens":true}}}',
        '{"models":[{"name":"models/m","inputTokenLimit":-1,"meta":{"n_ctx":512}}]}', '{"timings":{"predicted_n":3,"cache_n":1}}',
        words="data models id name meta n_ctx owned_by aliases usage timings x_groq prompt_tokens cost null 1e999 true -1")  # fmt: skip
def answers(data: bytes) -> None:
    """What a server says of its models and of tokens is plausible or not said."""
    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return
    window = window_in(value, "m")
    assert window is None or (LEAST <= window.tokens <= MOST and (window.output == 0 or LEAST <= window.output <= MOST))
    assert isinstance(more(value), str)
    known(data.decode("utf-8", "replace"))
    for each in value if isinstance(value, list) else [value]:
        usage = usage_in(each) if isinstance(each, dict) else None
        if usage:
            counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens, usage.cost)
            assert all(0 <= number < 3 * 10**12 for number in counts)
            assert usage.cached_tokens <= usage.input_tokens


@target(
    "30",
    "Wed, 21 Oct 2026 07:28:00 GMT",
    "1e999",
    "-5",
    "1m30s",
    "nan",
    "120ms",
    words="s ms m h 0 9 . : GMT inf nan - 1e9",
)
def rate_headers(data: bytes) -> None:
    """Whatever stands in headers about limits, nobody waits without end, and nobody for less than nothing."""
    text = data.decode("latin-1")
    names = ("retry-after", "retry-after-ms", "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
             "x-ratelimit-reset-requests", "x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens",
             "x-ratelimit-reset", "x-ratelimit-remaining", "x-ratelimit-limit")  # fmt: skip
    words = text.split("\n")
    window = RateWindow()
    window.learn({name: words[n % len(words)] for n, name in enumerate(names)}, 1.0, 1.8e9)
    wait = window.wait(1.0)
    assert 0 <= wait <= 86_400
