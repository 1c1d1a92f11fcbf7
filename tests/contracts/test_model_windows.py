"""How much a model reads, as it becomes known: from its server's own list, from refusals, from what it counts."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Failed, Noticed, Replied, WindowFound
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.gauge import Counts, weighed
from hermes_kernel.core.messages import Assistant, Image, ToolSpec, Usage, User
from hermes_kernel.settings import Settings
from hermes_kernel.testing import OVERFLOWS, Server, Tokens, forever, overflow, say
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.model import OpenAIModel, Route
from hermes_kernel.world.model.audit import Audit
from hermes_kernel.world.model.windows import Reach
from hermes_kernel.world.stop import Stop

ASK = CallModel((User("q"),))


def model_for(url, **settings):
    return OpenAIModel(Settings(**{"base_url": url, "model": "m", "api_key": "sk-secret", **settings}), SystemClock())


async def ask(model, call=ASK):
    return [event async for event in model.reply(call, (), Stop())]


def found(events):
    return [(event.tokens, event.source) for event in events if isinstance(event, WindowFound)]


# --- lists of models --------------------------------------------------------------------------------------------------


@dataclass
class Pages:
    """Serves what each path should say: a value, or a function that has the handler to itself."""

    pages: dict[str, object]
    asked: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(pages):
    told = Pages(pages)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            told.asked.append((self.path, self.headers.get("Authorization", "")))
            page = pages.get(self.path)
            if isinstance(page, Callable):
                page(self)
                return
            body = page if isinstance(page, bytes) else json.dumps(page).encode()
            self.send_response(200 if page is not None else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(
                b'data: {"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}]}\n\n'
            )
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def looked(url, model="m", key="sk-secret"):
    reach = Reach(Route(model, url, key))
    reach.look()
    reach.wait()
    return reach.window


def test_the_list_of_models_is_asked_once_with_the_key_of_its_route():
    with serving({"/v1/models": {"data": [{"id": "m", "max_model_len": 16_384}]}}) as server:
        reach = Reach(Route("m", server.url, "sk-secret"))
        for _ in range(3):
            reach.look()
            reach.wait()
        assert (reach.tokens, reach.window.source) == (16_384, "models")
        assert server.asked == [("/v1/models", "Bearer sk-secret")]


@pytest.mark.parametrize(
    ("listed", "path", "page"),
    [
        ({"id": "x.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}, "/props",
         {"default_generation_settings": {"n_ctx": 4096}}),
        ({"id": "m:latest", "owned_by": "library"}, "/api/ps", {"models": [{"model": "m:latest", "context_length": 4096}]}),
        ({"id": "hf.co/u/m:q4", "owned_by": "u"}, "/api/ps", {"models": [{"model": "m:latest", "context_length": 4096}]}),
        ({"id": "m", "owned_by": "organization_owner"}, "/api/v0/models",
         {"data": [{"id": "m", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096}]}),
    ],
)  # fmt: skip
def test_a_server_of_ones_own_is_asked_what_it_has_loaded(listed, path, page):
    with serving({"/v1/models": {"data": [listed]}, path: page}) as server:
        assert looked(server.url).tokens == 4096
        assert [asked for asked, _ in server.asked] == ["/v1/models", path]


def _without_end(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 1_000_000)
    except OSError:
        pass  # it has heard enough


def _elsewhere(handler):
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:9/v1/models")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def _no_http(handler):
    handler.wfile.write(b"\x00\xff nonsense\r\n\r\n")


@pytest.mark.parametrize(
    "page",
    [
        b"<html>Welcome</html>",
        b"[" * 100_000,
        b'{"data": [{"id": "m", "context_length": 1e999}]}',
        {"data": [{"id": "m", "context_length": "131072"}]},
        {"data": [{"id": "other", "context_length": 131_072}]},
        {"data": None},
        None,
        _without_end,
        _elsewhere,
        _no_http,
    ],
)
def test_a_list_that_says_nothing_is_no_window_and_no_trouble(page):
    with serving({"/v1/models": page}) as server:
        assert looked(server.url) is None


def test_nobody_there_is_no_trouble():
    assert looked("http://127.0.0.1:9/v1") is None


async def test_a_list_that_never_comes_delays_no_answer():
    gate = threading.Event()
    with serving({"/v1/models": lambda _: gate.wait(30)}) as server:
        model = model_for(server.url)
        events = [event for _ in range(3) for event in await ask(model)]
        await model.aclose()
        gate.set()
    assert sum(isinstance(event, Replied) for event in events) == 3
    assert found(events) == []
    assert [path for path, _ in server.asked] == ["/v1/models"]


async def test_what_is_found_out_is_told_with_the_next_answer_until_it_is_believed():
    with serving({"/v1/models": {"data": [{"id": "m", "context_window": 32_768}]}}) as server:
        model = model_for(server.url)
        assert model.window(0) == 0
        events = await ask(model)
        while not model.window(0):
            await asyncio.sleep(0.01)
        events = await ask(model)
        again = await ask(model, CallModel((User("q"),), window=32_768))
        await model.aclose()
    assert found(events) == [(32_768, "models")]
    assert isinstance(events[-1], Replied)
    assert found(again) == []
    assert (model.window(0), model.window(7), model.window(-1)) == (32_768, 0, 0)


# --- what else is known -----------------------------------------------------------------------------------------------


async def test_the_setting_is_known_at_once_and_only_of_the_main_model():
    model = OpenAIModel(
        Settings(base_url="http://h/v1", model="gpt-4o", api_key="k", context_window=9000, fallback_models="gpt-4o,x"),
        SystemClock(),
    )
    assert [model.window(route) for route in range(3)] == [9000, 128_000, 0]


def test_our_own_model_is_known_before_it_runs(tmp_path):
    def window(base_url, model="", **settings):
        return OpenAIModel(Settings(base_url=base_url, model=model, home=tmp_path, **settings), SystemClock()).window(0)

    assert window("local:") == window("local:", "qwen") == window("local:", "smol") == 8192
    assert window("local:", context_window=4096) == 4096
    assert window("local:", context_window=100_000) == 8192
    assert window("local:", "llama-900b") == 0


@pytest.mark.parametrize("wording", OVERFLOWS)
async def test_an_overflow_that_names_the_window_makes_it_known(wording):
    with Server([overflow(wording), say("Hello.")]) as server:
        model = model_for(server.url, context_window=100_000)
        failed, replied = await ask(model), await ask(model)
        await model.aclose()
    assert isinstance(failed[-1], Failed)
    assert failed[-1].fault is Fault.CONTEXT_OVERFLOW
    told = failed[-1].window
    assert found(failed) == found(replied) == [(told or 100_000, "overflow" if told else "setting")]
    assert failed[-1].asked in (0, 8001, 9001)


# --- prompts that are cut ---------------------------------------------------------------------------------------------

ENGLISH = "The server reads the prompt, and whatever does not fit is thrown away at once. "
CHINESE = "服务器读取提示，放不下的内容会被直接丢弃。"
VIETNAMESE = "Máy chủ đọc lời nhắc, phần nào không vừa thì bị bỏ đi ngay lập tức. "
TEXTS = {"English": (ENGLISH, 4.6), "Chinese": (CHINESE, 1.6), "Vietnamese": (VIETNAMESE, 3.2)}


def growing(text, turns, size=5000):
    """A conversation of more and more turns, of so many characters and a short answer."""
    said = ()
    for _ in range(turns):
        said = (*said, User((text * 400)[:size]), Assistant((text * 90)[: size // 5]))
        yield said[:-1]


def honest(per_token, fixed=100):
    """What a server with no secrets counts of these messages, pictures 85 each."""

    def count(messages):
        parts = [part for m in messages for part in (m if isinstance(m, list) else [m])]
        said = sum(len(part if isinstance(part, str) else part.get("text", "")) for part in parts)
        seen = sum(1 for part in parts if isinstance(part, dict) and part["type"] == "image_url")
        return round(fixed + said / per_token + 85 * seen)

    return count


async def conversation(count, transcripts):
    """What is noticed and found while a server on this machine counts like this."""

    def answer(request):
        return say("Hm.", usage=Tokens(count([message["content"] for message in request.messages]), 5))

    with Server(answer) as server:
        model = model_for(server.url)
        events = [event for said in transcripts for event in await ask(model, CallModel(said))]
        await model.aclose()
    return [event for event in events if isinstance(event, Noticed)], found(events)


def audited(count, transcripts):
    """The cuts that are seen while a server far away counts like this."""
    audit = Audit(near=False)
    told = [(weighed(*said), count([message.text for message in said])) for said in transcripts]
    return [cut for made, tokens in told if (cut := audit.take(made, Counts(), Usage(1, tokens)))]


@pytest.mark.parametrize("script", TEXTS)
@pytest.mark.parametrize(("turns", "size"), [(9, 5000), (60, 700)])
async def test_a_server_that_cuts_prompts_is_reported_once_and_its_limit_kept_to(script, turns, size):
    text, per_token = TEXTS[script]
    count = honest(per_token)
    noticed, windows = await conversation(lambda said: min(count(said), 4096), growing(text, turns, size))
    assert len(noticed) == 1
    assert "it seems to cut long prompts" in noticed[0].text
    assert windows
    assert set(windows) == {(4096, "truncation")}


@pytest.mark.parametrize("script", TEXTS)
@pytest.mark.parametrize(("turns", "size"), [(9, 5000), (80, 700)])
@pytest.mark.parametrize("limit", [4096, 5000])
def test_a_server_far_away_that_cuts_prompts_is_found_out_too(script, turns, size, limit):
    text, per_token = TEXTS[script]
    count = honest(per_token)
    cuts = audited(lambda said: min(count(said), limit), growing(text, turns, size))
    assert cuts
    assert {cut.window for cut in cuts} == {limit}


@pytest.mark.parametrize(("turns", "size"), [(9, 5000), (60, 700)])
async def test_a_server_that_drops_whole_messages_is_reported_too(turns, size):
    count = honest(4.6)

    def dropping(said):
        while count(said) > 4096:
            said = said[1:]
        return count(said)

    noticed, windows = await conversation(dropping, growing(ENGLISH, turns, size))
    assert len(noticed) == 1
    assert all(2700 < tokens <= 4096 for tokens, _ in windows)


@pytest.mark.parametrize("script", TEXTS)
@pytest.mark.parametrize("dear", [0.8, 1.0, 2.0])
async def test_an_honest_server_is_never_accused(script, dear):
    text, per_token = TEXTS[script]
    count = honest(per_token / dear)
    assert await conversation(count, growing(text, 6)) == ([], [])
    assert audited(count, growing(text, 12)) == audited(count, growing(text, 60, 300)) == []


async def test_pictures_are_no_prompt_that_was_cut():
    picture = Image("image/png", "QUJD" * 50_000)
    transcripts = [(User("look " * 50, (picture,) * n),) for n in (1, 4, 9, 9)]
    assert await conversation(honest(4.6), transcripts) == ([], [])


@pytest.mark.parametrize("shown", [True, False])
async def test_tools_that_come_and_go_are_no_prompt_that_was_cut(shown):
    tools = tuple(ToolSpec(f"tool_{n}", "What it does, told at length. " * 30, "{}") for n in range(20))
    count, offered = honest(4.6), []

    def answer(request):
        offered.append("tools" in request.body)
        seen = 4000 if shown and offered[-1] else 0
        return say("Hm.", usage=Tokens(seen + count([message["content"] for message in request.messages]), 5))

    with Server(answer) as server:
        model = model_for(server.url)
        events = [
            event
            for number, said in enumerate(growing(ENGLISH, 8, 700))
            async for event in model.reply(CallModel(said, tools=number % 3 < 2), tools, Stop())
        ]
        await model.aclose()
    assert set(offered) == {True, False}
    assert not [event for event in events if isinstance(event, Noticed | WindowFound)]


async def test_counts_that_leave_out_what_was_cached_are_no_prompt_that_was_cut():
    count, last = honest(4.6), 0

    def new_only(said):
        nonlocal last
        whole = count(said)
        new, last = whole - last, whole
        return new

    assert await conversation(new_only, growing(ENGLISH, 9)) == ([], [])


async def test_counts_that_are_nonsense_are_not_believed():
    lies = iter([1, 10**15, -4, 3, 900, 10**11, 0, 7])
    noticed, windows = await conversation(lambda _: next(lies), growing(ENGLISH, 8))
    assert (noticed, windows) == ([], [])


def test_a_server_that_reads_more_than_it_was_thought_to_is_believed():
    reach = Reach(Route("gpt-4o", "https://h/v1"))
    reach.shown(4096, "truncation")
    reach.counted(4100)
    assert reach.tokens == 4096
    reach.counted(9000)
    assert reach.tokens == 128_000
    reach.shown(4096, "overflow")
    reach.counted(9000)
    assert reach.tokens == 4096


def test_an_absurd_count_is_no_measure_for_the_next():
    audit, made = Audit(near=True), weighed(User(ENGLISH * 400))
    assert audit.take(made, Counts(), Usage(1, 10**11)) is None
    assert audit.tokens(made, Counts()) < 20_000


async def test_a_reply_that_nobody_counts_is_guessed_by_script():
    with Server(forever(say("你好。", usage=None))) as server:
        model = model_for(server.url)
        events = await ask(model, CallModel((User(CHINESE * 100),), system="Be brief."))
        seen = await ask(model, CallModel((User("x", (Image("image/png", "QUJD" * 9000),)),)))
        await model.aclose()
    assert events[-1].usage.estimated
    assert events[-1].usage.input_tokens == pytest.approx(len(CHINESE) * 110, rel=0.1)
    assert seen[-1].usage.input_tokens < 1100


async def test_the_time_that_looking_takes_is_bounded():
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b" ")
                time.sleep(0.05)
        except OSError:
            pass

    with serving({"/v1/models": drip}) as server:
        assert await asyncio.to_thread(looked, server.url) is None
