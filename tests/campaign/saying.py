"""What is said in the campaign, and the secrets that are planted in it: none of them is ever to be found in a file."""

from __future__ import annotations

import random

KEY = "sk-very-secret-0123456789"
OTHER_KEY = "other-endpoint-key-77aa88bb99"
PLANTED = "ghp_" + "a1B2" * 9
SECRETS = (KEY, OTHER_KEY, PLANTED)

TEXTS = (
    "Yes.",
    "one two three four",
    "one two five",
    "a😀b 👩‍👩‍👧 é",
    "über \u2028 \u2029 \x85 x",
    "  spaced  ",
    "\ud83d lone \udc80",
    "**bold** `code` <script>alert(1)</script>",
    "\u202egnirts\u202c \u200b\ufeff\x00\x1b[31m",
    "```\nunclosed",
    "\n\n",
    "日本語 " * 40,
    "word " * 400,
    '{"name": "price", "arguments": {"sku": "A1"}}',
    "<think>hm</think> 42",
    "data: [DONE]",
)
PROMPTS = (
    "What does A1 cost?",
    "Go on \ud800.",
    "日本 " * 50,
    "long " * 900,
    f"My token is {PLANTED}, keep it to yourself.",
    f"The key is {KEY}.",
    "$name and {} and \\ and \x00",
    "No, that was wrong. Always use EUR.",
)
ANSWERS = (None, "yes", "", "\ud800 whatever", "one of them")


def text(dice: random.Random) -> str:
    """Something a model says."""
    return dice.choice(TEXTS)


def prompt(dice: random.Random) -> str:
    """Something a person says."""
    return dice.choice(PROMPTS)
