"""The scripted server says on the wire exactly what its script says, and remembers exactly what it was asked."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, cast

import pytest

from hermes_kernel.testing import (
    HINTS,
    OVERFLOWS,
    Asked,
    Request,
    Server,
    Step,
    Thoughts,
    Tokens,
    bad_arguments,
    billed,
    call,
    calls,
    cut_call,
    cut_off,
    disconnect,
    disconnect_in_call,
    duplicate_call,
    empty,
    error_in_stream,
    error_with_200,
    failed_generation,
    filtered,
    forever,
    garbled,
    hang_up,
    late,
    login_page,
    no_choices,
    out_of_quota,
    overflow,
    queued,
    rate_limited,
    raw,
    refused_parameter,
    refused_tool_choice,
    say,
    stall,
    status,
    thinking_only,
    torn,
    unfinished,
    unstreamed,
    used_up,
    without_tools,
    written_call,
)
from hermes_kernel.testing.wire import CallShape

PATH = "/v1/chat/completions"


class Answer:
    """A whole answer as a plain HTTP client sees it."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.broken = False
        try:
            self.body = response.read()
        except http.client.IncompleteRead as error:
            self.body, self.broken = error.partial, True

    @property
    def lines(self) -> list[str]:
        return [block for block in self.body.decode().split("\n\n") if block]

    @property
    def chunks(self) -> list[Any]:
        datas = [line.removeprefix("data: ") for line in self.lines if line.startswith("data: ")]
        return [json.loads(data) for data in datas if data != "[DONE]"]

    @property
    def deltas(self) -> list[dict[str, Any]]:
        return [choice["delta"] for chunk in self.chunks for choice in chunk.get("choices", ())]

    @property
    def text(self) -> str:
        return "".join(delta.get("content") or "" for delta in self.deltas)

    @property
    def finish(self) -> list[str | None]:
        return [c["finish_reason"] for chunk in self.chunks for c in chunk.get("choices", ()) if not c["delta"]]

    @property
    def tool_deltas(self) -> list[dict[str, Any]]:
        return [part for delta in self.deltas for part in delta.get("tool_calls", ())]

    @property
    def done(self) -> bool:
        return self.body.endswith(b"data: [DONE]\n\n")


@contextmanager
def connected(server: Server) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection(server.url.split("/")[2], timeout=20)) as connection:
        yield connection


def ask(connection: http.client.HTTPConnection, **body: Any) -> Answer:
    connection.request("POST", PATH, json.dumps(body), {"Authorization": "Bearer k"})
    with closing(connection.getresponse()) as response:
        return Answer(response)


def answer(step: Step) -> Answer:
    with Server([step]) as server, connected(server) as connection:
        return ask(connection, messages=[])


def test_a_text_arrives_word_by_word_and_ends_with_reason_usage_and_done() -> None:
    got = answer(say("Hello there, world.\nBye."))
    assert got.status == 200
    assert got.headers["content-type"].startswith("text/event-stream")
    assert got.headers["transfer-encoding"] == "chunked"
    assert [d["content"] for d in got.deltas if d.get("content")] == ["Hello ", "there, ", "world.\n", "Bye."]
    assert got.finish == ["stop"]
    assert got.chunks[-1]["usage"]["completion_tokens"] == 4
    assert got.done


def test_pieces_given_as_a_list_arrive_as_they_stand() -> None:
    got = answer(say(["He", "", "llo", " "]))
    assert [d["content"] for d in got.deltas[1:-1]] == ["He", "", "llo", " "]


def test_usage_is_counted_from_the_request_unless_it_is_given_or_withheld() -> None:
    with Server([say("a"), say("a", usage=Tokens(100, 7, cached=40)), say("a", usage=None)]) as server:
        with connected(server) as connection:
            counted, given, withheld = (ask(connection, messages=["x" * 4000]).chunks[-1] for _ in range(3))
        size = server.requests[0].size
    assert counted["usage"]["prompt_tokens"] == size // 4 > 1000
    assert given["usage"]["total_tokens"] == 107
    assert given["usage"]["prompt_tokens_details"] == {"cached_tokens": 40}
    assert "usage" not in withheld


def test_any_step_may_be_billed_as_one_likes() -> None:
    assert answer(billed(call("price", {}), 1200, 30)).chunks[-1]["usage"]["total_tokens"] == 1230


@pytest.mark.parametrize("form", ["reasoning_content", "reasoning", "reasoning_details", "content_list", "think_tag"])
def test_thoughts_come_before_the_text_in_the_field_of_their_server(form: Any) -> None:
    got = answer(say("Yes.", thoughts=Thoughts("because", form)))
    told = json.dumps([delta for delta in got.deltas if delta.get("content") != "Yes."])
    assert "beca" in told
    assert "use" in told
    assert ("<think>" in told) == (form == "think_tag")
    assert (f'"{form}"' in told) == form.startswith("reasoning")


def test_a_call_arrives_in_pieces_that_add_up() -> None:
    got = answer(call("price", {"sku": "A1", "currency": "EUR"}, text="Let me look."))
    first, *rest = got.tool_deltas
    assert first["id"] == "call_1_0"
    assert first["function"]["name"] == "price"
    assert len(rest) > 1
    assert json.loads("".join(d["function"]["arguments"] for d in got.tool_deltas)) == {"sku": "A1", "currency": "EUR"}
    assert got.text == "Let me look."
    assert got.finish == ["tool_calls"]


def test_ids_of_calls_differ_from_reply_to_reply() -> None:
    with Server([forever(call("price", {}))]) as server, connected(server) as connection:
        assert [ask(connection).tool_deltas[0]["id"] for _ in range(3)] == ["call_1_0", "call_2_0", "call_3_0"]


def deltas_of(shape: CallShape) -> list[dict[str, Any]]:
    return answer(calls([("a", {"n": 1}), ("b", {"n": 2})], shape=shape)).tool_deltas


def test_each_family_of_servers_streams_two_calls_in_its_own_way() -> None:
    assert [d["index"] for d in deltas_of("whole")] == [0, 1]
    assert [d["index"] for d in deltas_of("ollama")] == [0, 0]
    assert len({d["id"] for d in deltas_of("ollama")}) == 2
    assert all("index" not in d for d in deltas_of("gemini"))
    assert all("index" not in d and "id" not in d for d in deltas_of("no_ids"))
    assert [d["function"]["arguments"] for d in deltas_of("dict")] == [{"n": 1}, {"n": 2}]
    assert {d.get("id") for d in deltas_of("same_id")} == {"call_1_0", None}
    assert all(len(d["id"]) >= 32 and "call" not in d["id"] for d in deltas_of("llama") if "id" in d)
    litellm = deltas_of("litellm")
    assert all("id" in d for d in litellm)
    assert json.loads(json.loads(litellm[-1]["function"]["arguments"])) == {"n": 2}
    assert len(answer(calls([("a", {}), ("b", {})], shape="batch")).deltas[1]["tool_calls"]) == 2


def test_a_call_may_bring_its_own_id_and_further_fields() -> None:
    signed = Asked("a", "{}", "x7", extra=(("extra_content", {"google": {"thought_signature": "s"}}),))
    (got,) = answer(calls([signed], shape="gemini", finish="stop")).tool_deltas
    assert got["id"] == "x7"
    assert got["extra_content"] == {"google": {"thought_signature": "s"}}


def test_a_finish_reason_may_be_null() -> None:
    assert answer(call("a", {}, finish=None)).finish == [None]


def test_a_model_without_a_call_format_writes_the_call_as_text() -> None:
    got = answer(written_call("add", {"a": 1}))
    assert got.text == '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'


def test_a_torn_emoji_arrives_as_two_lone_surrogates() -> None:
    got = answer(torn("a😀"))
    assert [d["content"] for d in got.deltas[1:-1]] == ["a", "\ud83d", "\ude00"]


def test_a_stalled_stream_keeps_its_connection_and_goes_on_after_the_silence() -> None:
    began = time.monotonic()
    got = answer(stall("one two three", after=1, seconds=0.3))
    assert time.monotonic() - began >= 0.3
    assert got.text == "one two three"
    assert got.done


def test_a_late_answer_shows_no_byte_before_its_time() -> None:
    began = time.monotonic()
    got = answer(late(say("Hi"), 0.3))
    assert time.monotonic() - began >= 0.3
    assert got.text == "Hi"


def test_a_queued_answer_comes_after_keep_alives() -> None:
    got = answer(queued(say("Hi"), 0.1))
    assert got.lines.count(": PROCESSING") == 5
    assert got.text == "Hi"
    assert answer(queued(say("Hi"), 0.1, line=b"\n")).body.startswith(b"\n\n\n\n\ndata:")


@pytest.mark.parametrize("reset", [False, True])
def test_a_hang_up_gives_no_byte(reset: bool) -> None:
    with Server([hang_up(reset=reset)]) as server, connected(server) as connection, pytest.raises(ConnectionError):
        ask(connection)


def test_a_disconnect_breaks_the_body_where_it_says() -> None:
    got = answer(disconnect("one two three", after=2))
    assert got.broken
    assert got.text == "one two "


def test_a_reset_in_the_text_is_an_error_of_the_connection() -> None:
    broken = (ConnectionError, http.client.HTTPException)
    step = disconnect("one two", after=1, reset=True)
    with Server([step]) as server, connected(server) as connection, pytest.raises(broken):
        ask(connection)


def test_a_call_breaks_off_in_the_middle_of_its_arguments() -> None:
    got = answer(disconnect_in_call("write", {"path": "a", "content": "b" * 50}, keep=20, text="Now "))
    assert got.broken
    assert got.text == "Now "
    assert len("".join(d["function"]["arguments"] for d in got.tool_deltas)) == 20


def test_a_garbled_stream_holds_one_event_that_is_no_json() -> None:
    got = answer(garbled("one two", after=1))
    assert not got.broken
    with pytest.raises(json.JSONDecodeError):
        json.loads(got.lines[-1].removeprefix("data: "))


def test_an_unfinished_stream_ends_in_order_without_a_reason() -> None:
    got = answer(unfinished("one two"))
    assert not got.broken
    assert got.text == "one two"
    assert got.finish == []
    assert not got.done


@pytest.mark.parametrize(
    ("form", "last"),
    [
        ("object", 'data: {"error": {"message": "boom"'),
        ("string", 'data: {"error": "boom"}'),
        ("vllm", 'data: {"object": "error", "message": "boom"'),
        ("openrouter", 'data: {"id": "gen-1"'),
        ("event", 'event: error\ndata: {"message": "boom"'),
        ("llama_line", 'error: {"message": "boom"'),
        ("list", 'data: [{"error": {"message": "boom"'),
    ],
)
def test_an_error_in_a_stream_has_the_form_of_its_server(form: Any, last: str) -> None:
    got = answer(error_in_stream("boom", text="Some text.", form=form))
    assert got.status == 200
    assert got.lines[-1].startswith(last)
    assert not got.done


def test_a_text_at_the_output_limit_says_length() -> None:
    assert answer(cut_off("and then")).finish == ["length"]


@pytest.mark.parametrize("form", ["length", "tool_calls", "invalid_diff"])
def test_a_cut_call_is_half_whatever_is_told(form: Any) -> None:
    got = answer(cut_call("write", {"content": "x" * 40}, keep=20, form=form))
    with pytest.raises(json.JSONDecodeError):
        json.loads("".join(d["function"]["arguments"] for d in got.tool_deltas))
    assert got.finish == ([] if form == "invalid_diff" else [form])
    assert ("Invalid diff" in got.lines[-1]) == (form == "invalid_diff")


def test_useless_replies_are_what_they_are_called() -> None:
    assert (answer(empty()).text, answer(empty()).finish) == ("", ["stop"])
    thinking = answer(thinking_only("hm", finish="length"))
    assert (thinking.text, thinking.finish) == ("", ["length"])
    assert any(d.get("reasoning_content") for d in thinking.deltas)
    assert all(not chunk["choices"] for chunk in answer(no_choices()).chunks)


def test_bad_arguments_and_duplicates_go_out_verbatim() -> None:
    bad = answer(bad_arguments("a", "{'x': 1,}"))
    assert "".join(d["function"]["arguments"] for d in bad.tool_deltas) == "{'x': 1,}"
    twice = [d["id"] for d in answer(duplicate_call("a", {})).tool_deltas if "id" in d]
    assert twice == ["call_1_0", "call_1_0"]


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529])
def test_an_http_error_has_its_status_and_a_message(code: int) -> None:
    got = answer(status(code, headers={"x-note": "n"}))
    assert got.status == code
    assert json.loads(got.body)["error"]["message"]
    assert got.headers["x-note"] == "n"


def test_an_error_body_is_sent_as_it_is() -> None:
    assert answer(status(500, body="<h1>oops</h1>")).body == b"<h1>oops</h1>"
    assert json.loads(answer(status(400, body=["x"])).body) == ["x"]


@pytest.mark.parametrize("hint", HINTS)
def test_a_rate_limit_says_when_to_come_back_in_every_form(hint: Any) -> None:
    got = answer(rate_limited(7, hint=hint))
    told = {name: value for name, value in got.headers.items() if "retry" in name or "reset" in name}
    expected = {
        "seconds": {"retry-after": "7"},
        "milliseconds": {"retry-after-ms": "7000"},
        "go_reset": {"x-ratelimit-reset-requests": "7s"},
    }
    assert got.status == 429
    if hint in expected:
        assert told == expected[hint]
    elif hint != "date":
        assert told == {}
        assert ("7" in got.body.decode()) == (hint != "none")


def test_a_date_hint_is_counted_from_the_present_of_the_server() -> None:
    with Server([rate_limited(7, hint="date")], now=lambda: 1_700_000_000.0) as server, connected(server) as connection:
        got = ask(connection)
    assert parsedate_to_datetime(got.headers["retry-after"]).timestamp() == 1_700_000_007


def test_long_resets_are_go_durations() -> None:
    assert answer(rate_limited(90, hint="go_reset")).headers["x-ratelimit-reset-requests"] == "1m30s"


@pytest.mark.parametrize("wording", OVERFLOWS)
def test_an_overflow_comes_in_the_words_of_its_server(wording: str) -> None:
    got = answer(overflow(wording))
    assert (got.status, json.loads(got.body)) == OVERFLOWS[wording]


def test_there_are_more_than_ten_wordings_of_an_overflow() -> None:
    assert len(OVERFLOWS) >= 10


def test_refusals_name_what_they_refuse() -> None:
    refusals = {
        "max_completion_tokens": refused_parameter("max_tokens", use="max_completion_tokens"),
        "extra_forbidden": refused_parameter("stream_options", code=422),
        "Invalid tool_choice type": refused_tool_choice(),
        "does not support tools": without_tools(),
        "failed_generation": failed_generation("<function=read>{}</function>"),
        "content_filter": filtered(),
        "insufficient_quota": out_of_quota(),
    }
    for words, step in refusals.items():
        assert words in answer(step).body.decode()


def test_bodies_of_a_wrong_kind_come_with_status_200() -> None:
    page, error, whole = answer(login_page()), answer(error_with_200("down")), answer(unstreamed("Hi"))
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert (error.status, json.loads(error.body)["error"]["message"]) == (200, "down")
    assert json.loads(whole.body)["choices"][0]["message"]["content"] == "Hi"


def test_requests_are_remembered_with_connection_and_headers() -> None:
    with Server([say("a"), say("b")]) as server:
        with connected(server) as connection:
            ask(connection, model="m", messages=[{"role": "user", "content": "é😀"}])
        with connected(server) as connection:
            ask(connection)
        first, second = server.requests
    assert first.path == PATH
    assert first.headers["authorization"] == "Bearer k"
    assert "Bearer" not in repr(first)
    assert first.messages == [{"role": "user", "content": "é😀"}]
    assert (first.number, second.number) == (1, 2)
    assert (first.connection, second.connection) == (1, 2)
    assert second.at >= first.at
    assert first.closed_by_client is None


def test_connections_are_kept_alive() -> None:
    with Server([say("a"), status(500), login_page(), say("b")]) as server:
        with connected(server) as connection:
            for _ in range(4):
                ask(connection)
        assert {request.connection for request in server.requests} == {1}
        assert server.connections == 1


def test_a_client_that_hangs_up_is_noticed() -> None:
    with Server([stall("one two", after=1, seconds=float("inf"))]) as server:
        with connected(server) as connection:
            connection.request("POST", PATH, "{}")
            response = connection.getresponse()
            assert server.waiting == 1
            response.close()
        assert server.await_idle()
        (request,) = server.requests
        assert request.closed_by_client is not None
        assert server.waiting == 0


def test_a_client_that_hangs_up_before_the_first_byte_is_noticed() -> None:
    with Server([late(say("Hi"), float("inf"))]) as server:
        with connected(server) as connection:
            connection.request("POST", PATH, "{}")
            assert server.await_requests(1)
        assert server.await_idle()
        assert server.requests[0].closed_by_client is not None


def test_a_script_at_its_end_says_so() -> None:
    with Server([say("a")]) as server, connected(server) as connection:
        ask(connection)
        got = ask(connection)
    assert got.status == 418
    assert "the script is exhausted: request 2 came after its 1 steps (say('a'))" in got.body.decode()


def test_a_script_is_checked_on_both_of_its_ends() -> None:
    with Server([say("a"), status(500), forever(say("b"))]) as server, connected(server) as connection:
        ask(connection)
        with pytest.raises(AssertionError, match=r"not used up: status\(500\) never came, after 1 request$"):
            server.check()
        for _ in range(3):
            ask(connection)
        server.check()
    with Server(say("a")) as server, connected(server) as connection:
        ask(connection)
        ask(connection)
        with pytest.raises(AssertionError, match="request 2 came after its 1 steps"):
            server.check()


def test_what_a_function_raises_is_told_and_raised_again() -> None:
    def script(request: Request) -> Step:
        assert request.number > 1, "too early"
        return cast("Step", "no step")

    with Server(script) as server, connected(server) as connection:
        got = ask(connection)
        assert got.status == 418
        assert "the script failed: AssertionError: too early" in got.body.decode()
        assert "what the script's function returned is 'no step'" in ask(connection).body.decode()
        with pytest.raises(AssertionError, match="too early"):
            server.check()


@pytest.mark.parametrize("script", ["Hello.", b"x", 3, None, ["Hello."], [say("a"), None]])
def test_what_is_no_script_is_refused_at_once(script: Any) -> None:
    with pytest.raises(TypeError, match=r"a script is made of steps, such as say\('Hello.'\)"):
        Server(script)


def test_a_request_knows_what_the_tools_answered_and_which_are_offered() -> None:
    def result(text: Any) -> dict[str, Any]:
        return {"role": "tool", "content": text}

    parts = [{"type": "text", "text": "four"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    said = [
        {"role": "user", "content": "q"},
        result("one"),
        {"role": "assistant"},
        result("two"),
        result(parts),
        result(None),
    ]
    with Server([forever(say("a"))]) as server, connected(server) as connection:
        ask(connection, messages=said, tools=[{"type": "function", "function": {"name": "price"}}])
        ask(connection, messages=said[:1])
        first, second = server.requests
    assert (first.results, first.tools) == (["two", "four", ""], ["price"])
    assert (second.results, second.tools) == ([], [])


def test_bytes_of_ones_own_go_out_as_they_are() -> None:
    got = answer(raw(b"data: {", 0.05, b"}\n\n", status=203, headers=(("x-note", "n"),)))
    assert (got.status, got.headers["x-note"], got.body) == (203, "n", b"data: {}\n\n")


def test_a_limit_that_is_used_up_is_told_beside_the_answer() -> None:
    got = answer(used_up(say("a"), 7))
    assert got.text == "a"
    assert (got.headers["x-ratelimit-remaining-requests"], got.headers["x-ratelimit-reset-requests"]) == ("0", "7s")


def test_a_function_may_answer_from_the_request() -> None:
    def echo(request: Request) -> Step:
        return say(request.messages[-1]["content"])

    with Server(echo) as server, connected(server) as connection:
        assert ask(connection, messages=[{"content": "ping pong"}]).text == "ping pong"


def test_models_are_listed_and_other_pages_are_missing() -> None:
    with Server([]) as server, connected(server) as connection:
        connection.request("GET", "/v1/models")
        assert json.loads(connection.getresponse().read())["data"][0]["id"] == "scripted"
        connection.request("GET", "/elsewhere")
        assert connection.getresponse().status == 404
        assert server.requests == ()


def test_twenty_thousand_chunks_are_twenty_thousand_events_and_cost_little() -> None:
    step = say("word " * 20_000)
    with Server([step]) as server, connected(server) as connection:
        began = time.process_time()
        got = ask(connection)
        spent = time.process_time() - began
    assert len(got.deltas) == 20_002
    assert spent < 2.0


def test_stopping_ends_every_open_answer_and_may_be_repeated() -> None:
    server = Server([forever(late(say("Hi"), float("inf")))]).start()
    with connected(server) as connection:
        connection.request("POST", PATH, "{}")
        assert server.await_requests(1)
        server.stop()
        server.stop()
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            connection.getresponse()
