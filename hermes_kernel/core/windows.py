"""How much a model can read and write: what servers say of it, and what is known of the well-known ones.

The numbers come from outside: what is no plausible number of tokens is taken as not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LEAST, MOST = 256, 100_000_000
"""No window is smaller or larger, in tokens; who says so means something else."""

_READS = (
    "loaded_context_length", "n_ctx", "max_model_len", "context_window", "context_length", "max_context_length",
    "max_context_window_tokens", "context_size", "inputTokenLimit", "input_token_limit", "max_input_tokens",
)  # fmt: skip
_WRITES = (
    "max_completion_tokens", "max_output_tokens", "max_output_length", "outputTokenLimit", "output_token_limit",
)  # fmt: skip
_INSIDE = ("top_provider", "meta", "metadata", "limits", "capabilities", "model_info", "default_generation_settings")
_NAMES = ("id", "name", "model", "key", "canonical_slug")
_ROWS = ("data", "models")
_MORE = {"llamacpp": "/props", "library": "/api/ps", "organization_owner": "/api/v0/models"}
"""Where llama-server, Ollama and LM Studio tell what is loaded, by the owner that they name in their lists."""


@dataclass(frozen=True, slots=True)
class Window:
    """``tokens`` a model can read; ``output`` it writes at most, 0: not known. ``source`` is where that was learnt:
    ``setting``, ``overflow``, ``truncation``, ``models``, ``table`` or ``local``."""

    tokens: int
    output: int = 0
    source: str = ""


def plausible(value: object) -> int:
    """`value` if it can be a number of tokens of a window, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and LEAST <= value <= MOST else 0


def window_in(answer: object, model: str) -> Window | None:
    """What a server says of `model`: in a list of models, in the description of one, or (llama-server) of itself. None
    where it says nothing that can be. What a model was trained for is no answer; what it is loaded with is."""
    row = _row(answer, model)
    if row is None or ("state" in row and "loaded_context_length" not in row):
        return None  # LM Studio tells the most it could load, too
    tokens = min(filter(None, (_said(fields, _READS) for fields in _fields(row))), default=0)
    output = min(filter(None, (_said(fields, _WRITES) for fields in _fields(row))), default=0)
    return Window(tokens, output, "models") if tokens else None


def more(answer: object) -> str:
    """The path, on its host, where the server that gave this list of models says how the model is loaded; ``""`` if
    it is none that does."""
    rows = _rows(answer)
    told = next((_MORE[owner] for row in rows if isinstance(owner := row.get("owned_by"), str) and owner in _MORE), "")
    tagged = any(isinstance(name := row.get("id"), str) and ":" in name for row in rows)
    return told or ("/api/ps" if tagged else "")


def known(model: str, *, hosted: bool = True) -> Window | None:
    """The window of a well-known model by its name, with or without a provider before it and a date behind it. Open
    models only if ``hosted``, by a large host: a server of one's own loads what its memory allows."""
    name = model.lower().rpartition("/")[2]
    table = (*_CLOSED, *_OPEN) if hosted else _CLOSED
    found = (Window(tokens, output, "table") for pattern, tokens, output in table if pattern.search(name))
    return next(found, None)


def means(name: str, model: str) -> bool:
    """Whether a server that lists `name` takes `model` for it: Gemini's list has a path, Ollama's has the usual tag."""
    return name in (model, f"models/{model}", f"{model}:latest")


def _row(answer: object, model: str) -> dict[str, Any] | None:
    """What speaks of `model` in an answer. A server with one model of its own takes any name for it."""
    told = _rows(answer)
    for same in (means, _ends):
        for row in told:
            if any(same(name, model.lower()) for name in _names(row)):
                return row
    alone = told[0] if len(told) == 1 else {}
    return alone if "meta" in alone or "default_generation_settings" in alone else None


def _rows(answer: object) -> list[dict[str, Any]]:
    rows = answer
    if isinstance(answer, dict):
        rows = next((answer[key] for key in _ROWS if key in answer), [answer])
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _names(row: dict[str, Any]) -> Iterator[str]:
    aliases = row.get("aliases")
    for name in (*(row.get(key) for key in _NAMES), *(aliases if isinstance(aliases, list) else ())):
        if isinstance(name, str):
            yield name.lower()


def _ends(name: str, model: str) -> bool:
    return bool(model) and name.endswith(f"/{model}")


def _fields(row: dict[str, Any], depth: int = 2) -> Iterator[dict[str, Any]]:
    """`row` and the objects within it that tell limits."""
    yield row
    for name in _INSIDE if depth else ():
        if isinstance(row.get(name), dict):
            yield from _fields(row[name], depth - 1)


def _said(fields: dict[str, Any], names: tuple[str, ...]) -> int:
    return next((number for name in names if (number := plausible(fields.get(name)))), 0)


def _family(pattern: str, tokens: int, output: int = 0) -> tuple[re.Pattern[str], int, int]:
    return re.compile(rf"(?<![a-z0-9-])(?:{pattern})(?![a-z0-9.])"), tokens, output


# As their makers publish them, what is left for input where a maker says that. The first that fits counts.
_CLOSED = (
    _family(r"gpt-6(?:\.\d)?", 922_000, 128_000),
    _family(r"gpt-5\.[4-9]-(?:mini|nano)", 272_000, 128_000),
    _family(r"gpt-5\.[4-9]", 922_000, 128_000),
    _family(r"gpt-5(?:\.\d)?-chat", 111_616, 16_384),
    _family(r"gpt-5\.3-codex-spark", 128_000),
    _family(r"gpt-5(?:\.[1-3])?", 272_000, 128_000),
    _family(r"gpt-4\.1", 1_047_576, 32_768),
    _family(r"(?:chat)?gpt-4o", 128_000, 16_384),
    _family(r"gpt-4-(?:turbo|1106|0125|vision)", 128_000, 4096),
    _family(r"gpt-4-32k", 32_768),
    _family(r"gpt-4", 8192),
    _family(r"gpt-3\.5-turbo(?:-0125|-1106|-16k)?", 16_385, 4096),
    _family(r"o1-(?:mini|preview)", 128_000, 32_768),
    _family(r"o[134]", 200_000, 100_000),
    _family(r"claude-(?:opus|sonnet|haiku|fable|mythos)-[5-9](?:[-.]\d)?", 1_000_000, 128_000),
    _family(r"claude-(?:opus-4[-.][6-9]|sonnet-4[-.][6-9])", 1_000_000, 64_000),
    _family(r"claude-(?:opus|sonnet|haiku)-4[-.]5", 200_000, 64_000),
    _family(r"claude-opus-4(?:[-.]1)?", 200_000, 32_000),
    _family(r"claude-sonnet-4", 200_000, 64_000),
    _family(r"claude-3[-.]7-sonnet", 200_000, 64_000),
    _family(r"claude-3[-.]5-(?:sonnet|haiku)", 200_000, 8192),
    _family(r"claude-3-(?:opus|sonnet|haiku)", 200_000, 4096),
    _family(r"gemini-1\.5-pro", 2_097_152, 8192),
    _family(r"gemini-(?:1\.5|2\.0)-flash(?:-lite|-8b)?", 1_048_576, 8192),
    _family(r"gemini-(?:2\.5|[34](?:\.\d)?)-(?:pro|flash)(?!.*(?:tts|image|audio|live|omni))", 1_048_576, 65_536),
    _family(r"gemini-(?:pro|flash|flash-lite)-latest", 1_048_576, 65_536),
    _family(r"grok-4\.[5-9]", 500_000),
    _family(r"grok-4|grok-code-fast", 256_000),
    _family(r"grok-3", 131_072),
)
_OPEN = (
    _family(r"gpt-oss", 131_072),
    _family(r"deepseek-v4(?:\.\d)?-(?:flash|pro)", 1_000_000, 384_000),
    _family(r"deepseek-(?:chat|reasoner)", 131_072, 8192),
    _family(r"kimi-k3(?:\.\d)?", 1_048_576),
    _family(r"kimi-k2\.[5-9]|kimi-k2-(?:thinking|instruct-0905|0905)", 262_144),
    _family(r"kimi-k2", 131_072),
    _family(r"glm-5\.[2-9]", 1_000_000, 128_000),
    _family(r"glm-5(?:\.1)?|glm-4\.[67]", 200_000, 128_000),
    _family(r"glm-4\.5", 128_000, 96_000),
    _family(r"qwen3-coder-(?:plus|flash)", 997_952, 65_536),
    _family(r"qwen3\.(?:[5-9]-(?:plus|flash)|[78]-max)", 983_616, 65_536),
    _family(r"qwen3-max", 258_048, 65_536),
    _family(r"minimax-m3", 512_000),
    _family(r"minimax-m2(?:\.\d)?", 196_608),
    _family(r"command-a", 256_000, 8000),
    _family(r"command-r", 128_000, 4096),
)
