"""How a question is worded: numbered choices, what an answer means, what happens without one, and when."""

from __future__ import annotations

from math import ceil

from hermes_kernel.core.question import Question
from hermes_kernel.core.safe import NO_MATH, clean, escape
from hermes_kernel.core.text import brief
from hermes_kernel.view.look import CODE, FRAME, GROUND, QUIET

UNITS = ((172_800, 86_400, "days"), (7_200, 3_600, "h"), (60, 60, "min"), (-1, 1, "s"))
"""Above how many seconds what is left is said in which unit."""
WRAPPED = "white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal"
ASKED = 600  # characters of a question, and of its answer, that stay in the notebook
NUMBER = 4  # digits of the greatest number that a choice may have


def written(question: Question) -> str:
    """All of a question as text, its choices numbered."""
    choices = [f"  {n}. {line}" for n, line in enumerate(offered(question), 1)]
    end = [f"  {without(question, question.seconds)}."] if question.seconds else []
    return "\n".join([clean(question.whole), *choices, *end])


def offered(question: Question) -> tuple[str, ...]:
    """Each choice on one line, with what it covers where that is said."""
    meanings = (*question.meanings, *[""] * len(question.choices))
    pairs = zip(question.choices, meanings, strict=False)
    return tuple(" ".join(clean(f"{choice}: {means}" if means else choice).split()) for choice, means in pairs)


def chosen(question: Question, said: str) -> str:
    """What `said` means: a number stands for its choice, anything else for itself."""
    words = said.strip()
    number = int(words) if words.isascii() and words.isdecimal() and len(words) <= NUMBER else 0
    if 1 <= number <= len(question.choices):
        return question.choices[number - 1]
    return next((choice for choice in question.choices if choice.casefold() == words.casefold()), words)


def without(question: Question, left: float) -> str:
    """What happens when nobody answers in the `left` seconds."""
    return f"Without an answer: {' '.join(clean(question.default).split())}, in {remaining(left)}"


def remaining(left: float) -> str:
    """`left` seconds, which are none below 0, in whole units, rounded up, by seconds in the last minute."""
    left = max(left, 0)
    unit, name = _unit(left)
    return f"{ceil(left / unit)} {name}"


def pause(left: float) -> float:
    """Seconds until `remaining` says something else; never more than are left."""
    unit, _ = _unit(left)
    return left - (ceil(left / unit) - 1) * unit


def _unit(left: float) -> tuple[int, str]:
    return next((unit, name) for above, unit, name in UNITS if left > above)


def asked_html(question: Question) -> str:
    """The question above its buttons, its input as code, whole: a long one can be scrolled, by keys as well."""
    text = f'<div role="alert" style="{WRAPPED};font-weight:600">{escape(question.text)}</div>'
    if not question.given:
        return text
    style = f"{CODE};{WRAPPED};max-height:20em;overflow:auto;margin:4px 0;padding:4px 8px;background:{GROUND}"
    label = escape(f"input of {question.tool}")
    return f'{text}<pre tabindex="0" role="group" aria-label="{label}" style="{style}">{escape(question.given)}</pre>'


def meaning_html(words: str) -> str:
    """What a choice covers, beside its button."""
    return f'<span style="overflow-wrap:anywhere">{escape(words)}</span>' if words else ""


def without_html(question: Question, left: float) -> str:
    """What happens without an answer, quietly: nobody is told of every tick. And how the keyboard comes here."""
    ends = f"{without(question, left)} · " if question.seconds else ""
    return f'<span style="color:{QUIET}">{escape(ends)}Tab goes to the buttons</span>'


def answered(question: Question, said: str) -> str:
    """What stays of a question, on one line."""
    return " ".join(_kept(question, said))


def answered_html(question: Question, said: str) -> str:
    """The same, quietly."""
    asked, words = map(escape, _kept(question, said))
    return f'<div class="{NO_MATH}" style="{FRAME}{WRAPPED}">{asked} <b>{words}</b></div>'


def _kept(question: Question, said: str) -> tuple[str, str]:
    asked, words = (brief(" ".join(clean(each).split()), ASKED) for each in (question.text, said))
    return asked, words
