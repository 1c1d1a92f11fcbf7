"""How much a model reads, from what servers say: every shape of answer, every wording of an error, and nonsense."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.trouble import read_trouble
from hermes_kernel.core.windows import LEAST, MOST, Window, known, more, plausible, window_in
from hermes_kernel.testing import OVERFLOWS

law = settings(deadline=None)

SHAPES = {
    "vLLM": ({"object": "list", "data": [{"id": "org/m", "max_model_len": 16384, "root": "org/m"}]}, 16384, 0),
    "OpenRouter": (
        {
            "data": [
                {"id": "other/m2", "context_length": 1_000_000},
                {
                    "id": "org/m",
                    "context_length": 131_072,
                    "top_provider": {"context_length": 65_536, "max_completion_tokens": 16_384},
                },
            ]
        },
        65_536,
        16_384,
    ),
    "Groq": ({"data": [{"id": "m", "context_window": 131_072, "max_completion_tokens": 32_768}]}, 131_072, 32_768),
    "Mistral": ({"data": [{"id": "m-2512", "aliases": ["m"], "max_context_length": 262_144}]}, 262_144, 0),
    "Together": ([{"id": "org/m", "type": "chat", "context_length": 32_768}], 32_768, 0),
    "Gemini": ({"models": [{"name": "models/m", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}]}, 1_048_576, 65_536),
    "Anthropic": ({"data": [{"id": "m", "max_input_tokens": 200_000, "max_tokens": 64_000}]}, 200_000, 0),
    "Copilot": (
        {"data": [{"id": "m", "capabilities": {"limits": {"max_context_window_tokens": 128_000, "max_output_tokens": 16_384}}}]},
        128_000,
        16_384,
    ),
    "DeepInfra": ({"data": [{"id": "org/m", "metadata": {"context_length": 40_960, "max_tokens": 40_960}}]}, 40_960, 0),
    "LM Studio, loaded": (
        {"data": [{"id": "m", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096}]},
        4096,
        0,
    ),
    "llama-server": (
        {
            "models": [{"name": "any.gguf", "model": "any.gguf"}],
            "data": [{"id": "any.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 8192, "n_ctx_train": 131_072}}],
        },
        8192,
        0,
    ),
    "llama-server of itself": ({"default_generation_settings": {"n_ctx": 4096, "params": {}}, "total_slots": 1}, 4096, 0),
    "Ollama, running": ({"models": [{"name": "m:latest", "model": "m:latest", "context_length": 4096}]}, 4096, 0),
    "one model described": ({"id": "m", "context_length": 8192}, 8192, 0),
}  # fmt: skip


@pytest.mark.parametrize("server", SHAPES)
def test_what_a_server_says_of_a_model_is_read(server):
    answer, tokens, output = SHAPES[server]
    assert window_in(answer, "m") == Window(tokens, output, "models")


@pytest.mark.parametrize(
    "answer",
    [
        {"data": [{"id": "m", "object": "model", "owned_by": "openai"}]},
        {"data": [{"id": "other", "context_length": 8192}]},
        {"data": [{"id": "m", "state": "not-loaded", "max_context_length": 131_072}]},
        {"data": [{"id": "any.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]},
        {"data": [{"id": "m", "context_length": "8192"}, {"id": "m", "context_length": 8192}]},
        {"data": [{"id": 7, "aliases": "m", "context_length": 8192}]},
        {"error": "no"},
        {"data": {"m": 8192}},
        {"data": ["m"]},
        {},
        [],
        "m",
        None,
        8192,
    ],
)
def test_what_is_not_said_is_not_known(answer):
    assert window_in(answer, "m") is None


@pytest.mark.parametrize(
    "number", [0, -1, 1, LEAST - 1, MOST + 1, 10**30, True, 8192.0, "8192", None, [8192], float("inf")]
)
def test_numbers_that_are_no_windows_are_refused(number):
    assert plausible(number) == 0
    assert window_in({"data": [{"id": "m", "context_length": number}]}, "m") is None


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        ([{"id": "x.gguf", "owned_by": "llamacpp"}], "/props"),
        ([{"id": "m", "owned_by": "library"}], "/api/ps"),
        ([{"id": "hf.co/u/m:q4", "owned_by": "u"}], "/api/ps"),
        ([{"id": "m", "owned_by": ["library"]}, {"id": "m", "owned_by": "organization_owner"}], "/api/v0/models"),
        ([{"id": "m", "owned_by": "vllm"}], ""),
        ([{"id": 7}], ""),
        ("m:1", ""),
        (None, ""),
    ],
)
def test_servers_of_ones_own_are_known_by_their_lists(rows, path):
    assert more({"object": "list", "data": rows}) == path


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["data", "models", "id", "name", "meta", "n_ctx", "context_length", "limits", "state", "x"]),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@law
@given(json_values, st.text(max_size=4))
def test_no_answer_is_too_strange(answer, model):
    found = window_in(answer, model)
    assert found is None or LEAST <= found.tokens <= MOST
    assert more(answer) == "" or more(answer).startswith("/")


@law
@given(st.text(max_size=30))
def test_any_name_can_be_looked_up(name):
    found = known(name)
    assert found is None or found.tokens >= 4096


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("gpt-4o", 128_000),
        ("openai/gpt-4o-mini-2024-07-18", 128_000),
        ("ft:gpt-4o-mini-2024-07-18:org::id", 128_000),
        ("gpt-4", 8192),
        ("gpt-4.1-nano", 1_047_576),
        ("gpt-5-mini", 272_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("Claude-3.5-Sonnet", 200_000),
        ("anthropic/claude-opus-4.1:free", 200_000),
        ("models/gemini-2.5-flash", 1_048_576),
        ("o3-mini", 200_000),
        ("moonshotai/kimi-k2-0905", 262_144),
    ],
)
def test_well_known_models_are_known_under_all_their_names(name, tokens):
    found = known(name)
    assert found is not None
    assert (found.tokens, found.source) == (tokens, "table")


@pytest.mark.parametrize(
    "name", ["", "gpt-45", "gpt-4x", "my-gpt-4", "foo3", "gemini-2.5-flash-preview-tts", "qwen3:8b", "llama3.1"]
)
def test_names_that_only_look_alike_are_not_known(name):
    assert known(name) is None


def test_what_a_server_of_ones_own_loads_is_not_in_the_table():
    assert known("gpt-oss:20b") is not None
    assert known("gpt-oss:20b", hosted=False) is None
    assert known("gpt-4o", hosted=False) is not None


TOLD = {
    "openai": (9001, 8192),
    "llama-server": (9001, 4096),
    "vllm": (8001, 4096),
    "anthropic": (9001, 8192),
    "gemini": (9001, 8192),
    "xai": (9001, 8192),
    "mistral": (9001, 0),
    "litellm": (9001, 8192),
    "proxy-500": (9001, 4096),
}


@pytest.mark.parametrize("wording", OVERFLOWS)
def test_the_numbers_of_an_overflow_are_read_in_every_wording(wording):
    status, body = OVERFLOWS[wording]
    trouble = read_trouble(json.dumps(body), status)
    assert (trouble.asked, trouble.window) == TOLD.get(wording, (0, 0))


@pytest.mark.parametrize(
    ("words", "asked", "window"),
    [
        (("Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of "
         "137,285 tokens: 131,285 tokens from the input messages and 6000 tokens for the completion."), 131_285, 131_072),
        ("The input (9001 tokens) is longer than the model's context length (8192 tokens).", 9001, 8192),
        ("This model's maximum context length is 4096 tokens. However, your request has 9001 input tokens.", 9001, 4096),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 190_000, 200_000),
        ("prompt is too long: 212,334 tokens > 200,000 maximum", 212_334, 200_000),
        ("`inputs` must have less than 4095 tokens. Given: 5000", 5000, 4095),
        ("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9001 `inputs` tokens and 512", 9001, 8193),
        ("Range of input length should be [1, 30720]", 0, 30_720),
        (("Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context "
         "length of only 4096 tokens, which is not enough"), 9001, 4096),
        ("invalid params, context window exceeds limit (2013)", 0, 0),
        ("maximum context length is 99999999999999999999 tokens", 0, 0),
        ("maximum context length is 1 tokens", 0, 0),
    ],
)  # fmt: skip
def test_other_wordings_tell_their_numbers_too(words, asked, window):
    trouble = read_trouble(json.dumps({"error": {"message": words}}), 400)
    assert (trouble.asked, trouble.window) == (asked, window)
