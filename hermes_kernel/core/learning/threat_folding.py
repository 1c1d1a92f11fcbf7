"""A text as a model reads it, whatever it is dressed in: no case, no accents, no emphasis, no invisible characters,
wide and mathematical letters as plain ones, foreign letters in Latin words as what they look like. Line ends stay."""

from __future__ import annotations

import re
import unicodedata

# what is drawn alike in Latin: Cyrillic, Greek, Armenian; in lower case
LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u04cf\u043a\u043c\u0442\u0432\u043d"
    "\u03b1\u03b5\u03bf\u03c1\u03c5\u03bd\u03b9\u03ba\u03c4\u03c7\u0570\u0578\u057d\u0585\u0261\u0131",
    "aeopcyxijsdqwhlkmtbh" + "aeopuvikt" + "xhnsogi",
)
_FOREIGN = re.compile(r"[\u0250-\u02af\u0370-\u058f\u0131]")
_WORD = re.compile(r"\w+")
_MARKS = re.compile(r"[\u0300-\u036f\u3099\u309a]")
_UNSEEN = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_EMPHASIS = re.compile(r"\*|~~|(?<![^\W_])_+|_+(?![^\W_])")
_BLANKS = re.compile(r"[^\S\n]+")
_QUOTED = re.compile(r"\n ?(?:> ?)+")
_AT_ENDS = re.compile(r" ?\n ?")
_LATIN = re.compile(r"[a-z]")


def folded(text: str) -> str:
    """`text` as rules look at it. Linear; as many lines as there were."""
    if not text.isascii():
        text = _UNSEEN.sub("", _plain(text))
    text = _CONTROLS.sub("", text).lower()
    if _FOREIGN.search(text):
        text = _WORD.sub(_latin, text)
    return _AT_ENDS.sub("\n", _QUOTED.sub("\n", _BLANKS.sub(" ", _EMPHASIS.sub("", text))))


def pattern(text: str) -> str:
    """A regular expression in lower case as it finds what is folded."""
    return _MARKS.sub("", unicodedata.normalize("NFKD", text))


def _plain(text: str) -> str:
    """Compatibility forms of letters as plain ones, without accents. What only looks like Latin keeps its script."""
    return _MARKS.sub("", unicodedata.normalize("NFKD", _tags(text))).casefold()


def _tags(text: str) -> str:
    """Letters of the block of tags, which nobody sees and many models read, as the letters that they are."""
    return re.sub(r"[\U000e0020-\U000e007e]", lambda found: chr(ord(found[0]) - 0xE0000), text)


def _latin(word: re.Match[str]) -> str:
    text = word[0]
    return text.translate(LOOKALIKES) if not text.isascii() and _LATIN.search(text) else text
