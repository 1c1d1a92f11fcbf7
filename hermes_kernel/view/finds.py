"""What a search found, for a person: threads with their finds below them, each find with its place. Pure.

Titles, names and snippets are other people's words: control characters are taken out and HTML is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.safe import clean, escape
from hermes_kernel.core.search.found import Found, Hit, Passage, Snippet, Thread
from hermes_kernel.core.text import brief

OURS = re.compile(r"[0-9a-f]{32}")
SHORT, TITLE = 12, 80  # characters
CELL = 'style="text-align:left;vertical-align:top;white-space:pre-wrap"'
NARROW = 'style="text-align:left;vertical-align:top;white-space:nowrap;padding-right:1em"'


def short(session: str) -> str:
    """A session's id as a person may copy it: the beginning of one of ours, the whole of any other on one line."""
    return session[:SHORT] if OURS.fullmatch(session) else _line(session)


def speaker(passage: Passage) -> str:
    """Who says it: a role, and the tool that a result is of."""
    return f"{passage.role} {brief(clean(passage.tool), 40)}".rstrip()


def marked(snippet: Snippet) -> str:
    """A snippet on one line, the finds between asterisks."""
    return "".join(f"**{text}**" if found else text for text, found in _pieces(snippet))


def finds_text(found: Found, command: str) -> str:
    """The threads as text. ``command`` is what a person writes before ``show``."""
    return "\n".join([*(line for thread in found.threads for line in _thread(thread)), summary(found, command)])


def finds_html(found: Found, command: str) -> str:
    """The threads as one quiet table, the finds in ``<mark>``."""
    rows = "".join(row for thread in found.threads for row in _rows(thread))
    table = f'<table class="hermes-finds"><tbody>{rows}</tbody></table>' if rows else ""
    return f"{table}<div>{escape(summary(found, command))}</div>"


def summary(found: Found, command: str) -> str:
    """How much was found, what could not be searched, and how to read on."""
    note = _sentence(found.note)
    if not found.threads:
        return f"Nothing was found. {note}".strip()
    partly = "No message has every word; these have the most of them. " if found.partly else ""
    read = f"Read one with `{command} show ID`, around a find with `{command} show ID PLACE`."
    return " ".join(part for part in (f"{partly}{counted(found.total, 'message')} found.", note, read) if part)


def _thread(thread: Thread) -> Iterator[str]:
    first = thread.hits[0].passage.session
    yield f"{short(first)}  {_about(thread)}"
    for hit in thread.hits:
        passage, where = hit.passage, _elsewhere(hit, first)
        yield f"  {passage.n:>5}  {minute(passage.t)}  {speaker(passage)}{where}"
        yield f"         {marked(hit.snippet)}"
    yield ""


def _rows(thread: Thread) -> Iterator[str]:
    first = thread.hits[0].passage.session
    yield f"<tr><td {CELL} colspan=4><code>{escape(short(first))}</code>&ensp;<b>{escape(_about(thread))}</b></td></tr>"
    for hit in thread.hits:
        passage = hit.passage
        who = f"{speaker(passage)}{_elsewhere(hit, first)}"
        about = "".join(f"<td {NARROW}>{escape(each)}</td>" for each in (str(passage.n), minute(passage.t), who))
        yield f"<tr>{about}<td {CELL}>{_html(hit.snippet)}</td></tr>"


def _about(thread: Thread) -> str:
    parts = (brief(clean(thread.title), TITLE) or "(no title)", brief(clean(thread.notebook), TITLE))
    return " · ".join(part for part in parts if part)


def _elsewhere(hit: Hit, first: str) -> str:
    """The session of a find that is not in the thread's first one."""
    return "" if hit.passage.session == first else f" in {short(hit.passage.session)}"


def _html(snippet: Snippet) -> str:
    return "".join(f"<mark>{escape(text)}</mark>" if found else escape(text) for text, found in _pieces(snippet))


def _pieces(snippet: Snippet) -> Iterator[tuple[str, bool]]:
    """The pieces on one line, whatever they are made of."""
    for text, found in snippet.pieces:
        yield _line(text), found


def _sentence(note: str) -> str:
    words = _line(note).strip().rstrip(".")
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", clean(text))
