"""What is suspicious for its form, whatever it says: characters that nobody sees or that turn a line round, words of
mixed alphabets, the marks by which models and our own prompts know who speaks, comments that a page does not show."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from hermes_kernel.core.learning.threat_folding import LOOKALIKES
from hermes_kernel.core.text import CELLS, END_OF_CELLS

BIDI = "A character that turns the order of a line round, so that it is read otherwise than it is shown"
UNSEEN = "A character that nobody sees and a model reads"
TAGS = "Text in characters that nobody sees"
CONTROL = "A control character"
MIXED = "A word of letters from two alphabets that look alike"
ROLE = "A mark by which models tell who speaks"
FRAME = "A mark by which the agent's own prompts are divided"
COMMENT = "A comment that a page does not show speaks to the agent"

Sign = tuple[str, str, int, int]
"""Kind, sentence, from, to."""

_ODD = re.compile(
    r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    r"\u3164\uffa0\ufeff\ufff9-\ufffb\x1b]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}|[\U000e0000-\U000e007f]+"
)
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_JOINED = re.compile(r"[\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u4e00-\u9fff]")
_FLAG = re.compile(r"[\U000e0030-\U000e007a]{3,7}\U000e007f")
_FOREIGN = re.compile(r"[\u0400-\u058f]")
_WORD = re.compile(r"[^\W\d_]+")
_ROLES = re.compile(
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end|eot_id|eom_id|start_header_id|end_header_id"
    r"|begin_of_text|end_of_text|start|message|channel|return|endofprompt|fim_\w{1,12}|tool_call|python_tag)\|>"
    r"|\[/?inst\]|<</?sys>>|</?(?:system|system[-_]prompt|system[-_]reminder|system[-_]message|developer_message|assistant"
    r"|human_turn|function_results|tool_response|function_calls|tool_call|antml:\w{1,20})>|<(?:start|end)_of_turn>|<[|\uff5c](?:begin|end)\u2581of\u2581sentence[|\uff5c]>",
    re.IGNORECASE,
)
_FRAMES = re.compile(
    "|".join([
        re.escape(CELLS), re.escape(END_OF_CELLS), r"\[Summary of [\d,]{1,12} earlier", r"^[ \t]*\u00a7[ \t]*$",
        r"^[ \t]*\u2550{20,}[ \t]*$", r"^### (?:System|User|Human|Assistant|Instruction|Response):[ \t]*$",
        r"^[ \t]*(?:MEMORY|USER PROFILE) \([^)\n]{1,60}\) \[\d",
        r"</?(?:memory|memories|available_skills|learnt|skills_index|user_profile)>",
    ]),
    re.MULTILINE,
)  # fmt: skip
_ADDRESSED = re.compile(
    r"\b(?:agents?|assistant|llm|a\.?i|hermes|chatgpt|claude|gpt|gemini|copilot|language models?|the model|system prompt)\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"\b(?:must|should|always|never|ignore|run|execute|send|do not|don't|remember|instruct\w*|obey|you are|your|upload|read)\b",
    re.IGNORECASE,
)
SAID_AT_MOST = 4_000  # characters of a comment that are looked at


def signs(text: str) -> Iterator[Sign]:
    """What stands out in a text as it is, not folded."""
    if not text.isascii():
        yield from _mixed(text)
    yield from _odd(text)
    for pattern, kind, what in ((_ROLES, "injection", ROLE), (_FRAMES, "separator", FRAME)):
        yield from ((kind, what, found.start(), found.end()) for found in pattern.finditer(text))
    yield from _comments(text)


def _odd(text: str) -> Iterator[Sign]:
    is_right_to_left = None
    for found in _ODD.finditer(text):
        start, end = found.span()
        char = text[start]
        if char in "\u061c\u200e\u200f":
            if is_right_to_left is None:
                is_right_to_left = bool(_RIGHT_TO_LEFT.search(text))
            if is_right_to_left:
                continue
        if not _is_ordinary(text, start, end):
            yield "invisible", _named(char), start, end


def _is_ordinary(text: str, start: int, end: int) -> bool:
    """What has its use here: in emoji, in scripts whose letters join or stand without spaces, in front of a file."""
    char, before, after = text[start], text[start - 1 : start] if start else "", text[end : end + 1]
    match char:
        case "\ufeff":
            return start == 0
        case "\u200d":
            return _is_emoji(before) or bool(_JOINED.match(before))
        case "\u200c":
            return bool(_JOINED.match(before))
        case "\u200b":
            return bool(_UNSPACED.match(before) or _UNSPACED.match(after))
        case _ if "\U000e0000" <= char <= "\U000e007f":
            return before == "\U0001f3f4" and bool(_FLAG.fullmatch(text, start, end))
    return False


def _is_emoji(char: str) -> bool:
    return bool(char) and (
        char == "\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff" or unicodedata.category(char) == "So"
    )


def _named(char: str) -> str:
    if char in _BIDI:
        return BIDI
    if "\U000e0000" <= char <= "\U000e01ef" or "\ufe00" <= char <= "\ufe0f":
        return TAGS
    return CONTROL if unicodedata.category(char) == "Cc" else UNSEEN


def _mixed(text: str) -> Iterator[Sign]:
    if not _FOREIGN.search(text):
        return
    for found in _WORD.finditer(text):
        word = found[0].lower()
        if len(word) > 3 and not word.isascii() and any("a" <= char <= "z" for char in word):
            foreign = [char for char in word if _FOREIGN.match(char)]
            if foreign and all(ord(char) in LOOKALIKES for char in foreign):
                yield "invisible", MIXED, found.start(), found.end()


def _comments(text: str) -> Iterator[Sign]:
    at = text.find("<!--")
    while at >= 0:
        end = text.find("-->", at + 4)
        end = len(text) if end < 0 else end
        said = text[at + 4 : min(end, at + 4 + SAID_AT_MOST)]
        if _ADDRESSED.search(said) and _ORDERED.search(said):
            yield "injection", COMMENT, at, end
        at = text.find("<!--", end)
