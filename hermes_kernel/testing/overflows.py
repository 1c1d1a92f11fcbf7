"""How servers say that a prompt is longer than the window: one row a wording."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hermes_kernel.core.faults import Fault
from hermes_kernel.testing.refusals import status
from hermes_kernel.testing.step import Step

_LLAMA = "request (9001 tokens) exceeds the available context size (4096 tokens), try increasing it"
_OPENAI = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. "
    "Please reduce the length of the messages."
)

OVERFLOWS: dict[str, tuple[int, Any]] = {
    "openai": (400, {"error": {"message": _OPENAI, "param": "messages", "code": "context_length_exceeded"}}),
    "llama-server": (
        400,
        {
            "error": {
                "code": 400,
                "message": _LLAMA,
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 9001,
                "n_ctx": 4096,
            }
        },
    ),
    "vllm": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 9001 tokens "
            "(8001 in the messages, 1000 in the completion).",
            "code": 400,
        },
    ),
    "vllm-negative": (400, {"error": {"message": "max_tokens must be at least 1, got -186.", "code": 400}}),
    "anthropic": (400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9001 > 8192"}}),
    "bedrock": (400, {"message": "Input is too long for requested model."}),
    "gemini": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (9001) exceeds the maximum number of tokens allowed (8192).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "xai": (400, {"error": "This model's maximum prompt length is 8192 but the request contains 9001 tokens."}),
    "groq": (400, {"error": {"message": "Please reduce the length of the messages or completion.", "code": "length"}}),
    "ollama": (400, {"error": {"message": "input length exceeds maximum context length", "type": "api_error"}}),
    "mistral": (
        400,
        {"object": "error", "message": "Prompt contains 9001 tokens, too many tokens for this model", "code": "3051"},
    ),
    "anthropic-413": (413, {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
    "lm-studio": (
        400,
        {"error": "The number of tokens to keep from the initial prompt is greater than the context length."},
    ),
    "fastapi-422": (422, {"detail": "context window exceeded: 9001 tokens"}),
    "litellm": (400, {"error": {"message": f"litellm.ContextWindowExceededError: OpenAIException - {_OPENAI}"}}),
    "proxy-500": (500, {"error": {"message": f"upstream: {_LLAMA}", "type": "server_error", "code": 500}}),
}
"""Name of the family -> status and body."""


def overflow(wording: str = "openai") -> Step:
    """The prompt is too long for the model, in the words of one of `OVERFLOWS`."""
    code, body = OVERFLOWS[wording]
    return replace(status(code, "the context is too long", body=body, fault=Fault.CONTEXT_OVERFLOW), name=wording)
