"""What servers really say when a call fails, a row for each, and what it means. Total: nothing is too strange for it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.classify import classify
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.trouble import Cause, Trouble, one_line, read_trouble


def openai(message, code=None, kind="invalid_request_error", **more):
    return {"error": {"message": message, "type": kind, "code": code, **more}}


CONTEXT = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."
LLAMA = "request (9001 tokens) exceeds the available context size (4096 tokens), try increasing it"

ROWS = [
    # context overflow, in the words of each family
    ("openai", 400, openai(CONTEXT, "context_length_exceeded"), Fault.CONTEXT_OVERFLOW),
    ("llama-server", 400, {"error": {"code": 400, "message": LLAMA, "type": "exceed_context_size_error", "n_prompt_tokens": 9001, "n_ctx": 4096}}, Fault.CONTEXT_OVERFLOW),
    ("vllm", 400, {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 9001 tokens (8001 in the messages, 1000 in the completion).", "code": 400}, Fault.CONTEXT_OVERFLOW),
    ("vllm, nothing left", 400, openai("max_tokens must be at least 1, got -186."), Fault.CONTEXT_OVERFLOW),
    ("anthropic", 400, openai("prompt is too long: 209001 tokens > 200000 maximum"), Fault.CONTEXT_OVERFLOW),
    ("anthropic, sum", 400, openai("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"), Fault.CONTEXT_OVERFLOW),
    ("bedrock", 400, {"message": "Input is too long for requested model."}, Fault.CONTEXT_OVERFLOW),
    ("gemini", 400, [{"error": {"code": 400, "message": "The input token count (9001) exceeds the maximum number of tokens allowed (8192).", "status": "INVALID_ARGUMENT"}}], Fault.CONTEXT_OVERFLOW),
    ("xai", 400, {"error": "This model's maximum prompt length is 8192 but the request contains 9001 tokens."}, Fault.CONTEXT_OVERFLOW),
    ("groq", 400, openai("Please reduce the length of the messages or completion.", "context_length_exceeded"), Fault.CONTEXT_OVERFLOW),
    ("groq, larger than a minute allows", 413, openai("Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9001, please reduce your message size", "rate_limit_exceeded", "tokens"), Fault.CONTEXT_OVERFLOW),
    ("ollama", 400, openai("input length exceeds maximum context length", kind="api_error"), Fault.CONTEXT_OVERFLOW),
    ("ollama, engine", 500, openai("prompt too long; exceeded max context length by 12 tokens", kind="api_error"), Fault.CONTEXT_OVERFLOW),
    ("mistral", 400, {"object": "error", "message": "Prompt contains 9001 tokens, too many tokens for this model", "code": "3051"}, Fault.CONTEXT_OVERFLOW),
    ("lm studio", 400, {"error": "The number of tokens to keep from the initial prompt is greater than the context length."}, Fault.CONTEXT_OVERFLOW),
    ("request_too_large", 413, openai("Request exceeds the maximum size", kind="request_too_large"), Fault.CONTEXT_OVERFLOW),
    ("fastapi", 422, {"detail": "context window exceeded: 9001 tokens"}, Fault.CONTEXT_OVERFLOW),
    ("litellm", 400, openai(f"litellm.ContextWindowExceededError: OpenAIException - {CONTEXT}"), Fault.CONTEXT_OVERFLOW),
    ("a proxy", 500, openai(f"upstream: {LLAMA}", kind="server_error"), Fault.CONTEXT_OVERFLOW),
    ("in a 200", 0, openai(CONTEXT, "context_length_exceeded"), Fault.CONTEXT_OVERFLOW),
    ("deepseek", 400, openai("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens", "invalid_request_error"), Fault.CONTEXT_OVERFLOW),
    # limits, money
    ("openai, rate", 429, openai("Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000", "rate_limit_exceeded", "tokens"), Fault.RATE_LIMIT),
    ("groq, rate, which speaks of tokens", 429, openai("Rate limit reached for model `x` on tokens per minute (TPM): Limit 15000, Used 11972, Requested 4351. Please try again in 5.289s.", "rate_limit_exceeded", "tokens"), Fault.RATE_LIMIT),
    ("openai, quota", 429, openai("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota"), Fault.BILLING),
    ("gemini, rate", 429, [{"error": {"code": 429, "message": "Resource has been exhausted (e.g. check quota).", "status": "RESOURCE_EXHAUSTED"}}], Fault.RATE_LIMIT),
    ("azure, rate", 429, openai("Requests to the ChatCompletions_Create Operation have exceeded call rate limit. Please retry after 37 seconds.", "429"), Fault.RATE_LIMIT),
    ("a plan's window", 429, openai("Weekly usage limit reached. Upgrade for more."), Fault.BILLING),
    ("deepseek, money", 402, openai("Insufficient Balance", "invalid_request_error", "unknown_error"), Fault.BILLING),
    ("openrouter, money", 402, {"error": {"code": 402, "message": "This request requires more credits, or fewer max_tokens."}}, Fault.BILLING),
    ("anthropic, money", 400, openai("Your credit balance is too low to access the Anthropic API."), Fault.BILLING),
    ("bare 429", 429, "", Fault.RATE_LIMIT),
    # keys, permissions, models
    ("openai, key", 401, openai("Incorrect API key provided: sk-abc. You can find your API key at platform.openai.com.", "invalid_api_key"), Fault.AUTH),
    ("gemini, key", 400, [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}], Fault.AUTH),
    ("llama-server, key", 401, {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}, Fault.AUTH),
    ("openrouter, key", 401, {"error": {"code": 401, "message": "No auth credentials found"}}, Fault.AUTH),
    ("forbidden", 403, openai("Country, region, or territory not supported"), Fault.AUTH),
    ("openrouter, moderation", 403, {"error": {"code": 403, "message": "Your chosen model requires moderation and your input was flagged", "metadata": {"reasons": ["x"]}}}, Fault.CONTENT_FILTER),
    ("openai, model", 404, openai("The model `gpt-9` does not exist or you do not have access to it.", "model_not_found"), Fault.MODEL_NOT_FOUND),
    ("ollama, model", 404, openai('model "qwen9" not found, try pulling it first', kind="api_error"), Fault.MODEL_NOT_FOUND),
    ("openrouter, model", 400, {"error": {"code": 400, "message": "foo/bar is not a valid model ID"}}, Fault.MODEL_NOT_FOUND),
    ("groq, model", 400, openai("The model `x` has been decommissioned and is no longer supported.", "model_decommissioned"), Fault.MODEL_NOT_FOUND),
    ("vllm, model", 404, {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404}, Fault.MODEL_NOT_FOUND),
    ("a wrong path", 404, {"detail": "Not Found"}, Fault.MODEL_NOT_FOUND),
    # filters
    ("azure, filter", 400, openai("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", "content_filter"), Fault.CONTENT_FILTER),
    ("qwen, filter", 400, openai("Output data may contain inappropriate content.", "data_inspection_failed"), Fault.CONTENT_FILTER),
    # form
    ("openai, parameter", 400, openai("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "unsupported_parameter", param="max_tokens"), Fault.FORMAT_ERROR),
    ("mistral, field", 422, {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}, "type": "invalid_request_error"}, Fault.FORMAT_ERROR),
    ("mistral, ids", 400, {"object": "error", "message": "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "type": "invalid_request_error", "code": "3280"}, Fault.FORMAT_ERROR),
    ("lm studio, choice", 400, {"error": "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"}, Fault.FORMAT_ERROR),
    ("deepseek, thoughts", 400, openai("Missing reasoning_content field in the assistant message at message index 3"), Fault.FORMAT_ERROR),
    ("surrogates", 400, openai("'utf-8' codec can't encode character '\\ud83d' in position 3: surrogates not allowed"), Fault.UNICODE),
    ("not utf-8", 400, openai("Request body is not valid UTF-8: invalid utf-8 sequence"), Fault.UNICODE),
    ("huge", 413, "<html><head><title>413 Request Entity Too Large</title></head></html>", Fault.PAYLOAD_TOO_LARGE),
    # the server's own trouble
    ("llama-server, loading", 503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, Fault.OVERLOADED),
    ("anthropic, overloaded", 529, openai("Overloaded", kind="overloaded_error"), Fault.OVERLOADED),
    ("groq, flex", 498, openai("Flex tier capacity exceeded"), Fault.OVERLOADED),
    ("openrouter, provider down", 502, {"error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": '{"error": {"message": "boom"}}'}}}, Fault.SERVER_ERROR),
    ("openrouter, none", 503, {"error": {"code": 503, "message": "No provider available that meets your routing requirements"}}, Fault.OVERLOADED),
    ("nginx", 502, "<html><body><h1>502 Bad Gateway</h1></body></html>", Fault.SERVER_ERROR),
    ("cloudflare", 524, "error code: 524", Fault.TIMEOUT),
    ("gateway", 504, "", Fault.TIMEOUT),
    ("plain 500", 500, openai("The server had an error while processing your request", kind="server_error"), Fault.SERVER_ERROR),
    ("408", 408, openai("Request timed out"), Fault.TIMEOUT),
    ("409", 409, openai("Conflict"), Fault.SERVER_ERROR),
    ("418", 418, "I'm a teapot", Fault.FORMAT_ERROR),
    ("llama-server, grammar", 500, openai("The model produced output that does not match the expected peg-native format", kind="server_error"), Fault.INVALID_RESPONSE),
    ("groq, bad call", 400, openai("Failed to call a function.", "tool_use_failed", failed_generation="<function=read={}</function>"), Fault.INVALID_RESPONSE),
    ("deepseek, stopped", 0, "the provider stopped early: insufficient_system_resource", Fault.OVERLOADED),
    ("in a stream, by code", 0, openai("Provider returned error", 502), Fault.SERVER_ERROR),
    ("in a stream, text", 0, {"error": "something odd"}, Fault.UNKNOWN),
    ("in a stream, old vllm", 0, {"object": "error", "message": "boom", "type": "InternalServerError", "code": 500}, Fault.SERVER_ERROR),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "fault"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_each_provider_says(status, body, fault):
    assert classify(read_trouble(body if isinstance(body, str) else json.dumps(body), status)) is fault


@pytest.mark.parametrize(
    ("trouble", "fault"),
    [
        (Trouble(Cause.CONNECT), Fault.DISCONNECT),
        (Trouble(Cause.SSL), Fault.SSL),
        (Trouble(Cause.FIRST_BYTE), Fault.TIMEOUT),
        (Trouble(Cause.STALE), Fault.STALE_STREAM),
        (Trouble(Cause.QUEUED), Fault.TIMEOUT),
        (Trouble(Cause.DISCONNECT), Fault.DISCONNECT),
        (Trouble(Cause.DISCONNECT, large=True), Fault.CONTEXT_OVERFLOW),
        (Trouble(Cause.CONNECT, large=True), Fault.DISCONNECT),
        (Trouble(Cause.NOT_A_STREAM, status=200), Fault.INVALID_RESPONSE),
        (Trouble(Cause.MALFORMED), Fault.INVALID_RESPONSE),
        (Trouble(Cause.ENCODING), Fault.UNICODE),
        (Trouble(status=402, message="Payment required", words="Payment required", wait=30), Fault.RATE_LIMIT),
        (Trouble(status=429, wait=5.0), Fault.RATE_LIMIT),
        (Trouble(status=429, wait=4000.0), Fault.BILLING),
    ],
)
def test_what_happened_without_words(trouble, fault):
    assert classify(trouble) is fault


@settings(deadline=None)
@given(
    st.builds(
        Trouble,
        st.sampled_from(Cause),
        st.integers(0, 999),
        code=st.text(max_size=10),
        words=st.text(max_size=80),
        wait=st.none() | st.floats(0, 1e6),
        large=st.booleans(),
    )
)
def test_every_trouble_is_a_fault(trouble):
    assert classify(trouble) in Fault


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "loc", "msg", "metadata", "raw", "code", "type", "n_ctx"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.text(max_size=200) | json_values.map(json.dumps), st.integers(0, 599))
def test_any_body_can_be_read_and_its_message_is_one_short_line(body, status):
    trouble = read_trouble(body, status)
    assert classify(trouble) in Fault
    assert "\n" not in trouble.message
    assert len(trouble.message) <= 300
    trouble.message.encode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error": "a string"}', "a string"),
        ('{"error": {"message": "m"}}', "m"),
        ('[{"error": {"message": "m"}}]', "m"),
        ('"just text"', "just text"),
        ('{"detail": "d"}', "d"),
        ('{"detail": {"message": "d"}}', "d"),
        ('{"detail": [{"loc": ["body", "x"], "msg": "bad"}, 3]}', "body.x: bad"),
        ('{"message": {"detail": [{"loc": "x", "msg": "bad"}]}}', "bad"),
        (
            '{"error": {"message": "Provider returned error", "metadata": {"raw": "no GPU"}}}',
            "Provider returned error: no GPU",
        ),
        ('{"error": {"message": "E", "metadata": {"raw": "{\\"error\\": \\"inner\\"}"}}}', "E: inner"),
        ('{"error": {"metadata": 3, "msg": "m"}}', "m"),
        ("<html><style>x{}</style><h1>Bad\nGateway</h1></html>", "Bad Gateway"),
        ("[]", "[]"),
        ("", "the server answered 500 without a word"),
        ('{"weird": 1}', '{"weird": 1}'),
    ],
)
def test_the_servers_own_words_are_found(body, message):
    assert read_trouble(body, 500).message == message


def test_words_that_are_too_deep_end_somewhere():
    nested = '{"detail":' * 30 + '"x"' + "}" * 30
    assert classify(read_trouble(nested, 400)) is Fault.FORMAT_ERROR
    raw: object = "boom"
    for _ in range(8):
        raw = {"error": {"message": "", "metadata": {"raw": json.dumps(raw)}}}
    assert "boom" in read_trouble(json.dumps(raw), 502).message


@pytest.mark.parametrize(
    ("body", "asked", "window"),
    [
        ({"error": {"message": LLAMA, "n_prompt_tokens": 9001, "n_ctx": 4096}}, 9001, 4096),
        (openai(LLAMA), 9001, 4096),
        (openai(CONTEXT), 9001, 8192),
        (
            openai("maximum context length is 131,072 tokens. However, you requested about 140,000 tokens"),
            140000,
            131072,
        ),
        (openai("prompt is too long: 209001 tokens > 200000 maximum"), 209001, 200000),
        (openai("no numbers"), 0, 0),
    ],
)
def test_the_numbers_of_an_overflow_are_read(body, asked, window):
    trouble = read_trouble(json.dumps(body), 400)
    assert (trouble.asked, trouble.window) == (asked, window)


def test_a_code_in_a_stream_is_its_status():
    assert read_trouble('{"error": {"message": "m", "code": 502}}').status == 502
    for code in ("3280", "²", "4²9", "9" * 5000):
        assert read_trouble(json.dumps({"error": {"message": "m", "code": code}})).status == 0
    assert read_trouble('{"error": {"message": "m", "code": true}}', 400).code == ""


def test_no_secret_is_ever_in_a_message():
    assert (
        one_line("Incorrect API key provided: sk-secret.\nTry again", ("sk-secret", ""))
        == "Incorrect API key provided: ***. Try again"
    )


def test_what_stands_in_place_of_a_key_is_a_word_and_keys_are_not():
    said = one_line("tool_choice: none or auto; key aB3$x9 is wrong, EMPTYEMPTY, too", ("none", "aB3$x9", "EMPTYEMPTY"))
    assert said == "tool_choice: none or auto; key *** is wrong, ***, too"
