"""How many tokens a text is, roughly, where no tokenizer and no server tells. Errs on the high side."""

from __future__ import annotations


def estimate(text: str) -> int:
    """Tokens in `text`: four bytes of English or code to a token, two of other alphabets, one CJK character each.

    UTF-8 length does the work: an ASCII character is one byte, most alphabets two, CJK three.
    """
    size = len(text.encode("utf-8", "replace"))
    wide = size - len(text)
    return -(-(len(text) * 2 + wide * 3) // 8) if text else 0
