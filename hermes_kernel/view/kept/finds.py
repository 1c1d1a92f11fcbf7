"""What a search found, for a person: threads with their finds below them, each find with its place. Pure.

Titles, names and snippets are other people's words: control characters are taken out and HTML is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.safe import NO_MATH, clean, escape
from hermes_kernel.core.search.found import Found, Hit, Passage, Snippet, Thread
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.view.markup import typed

OURS = re.compile(r"[0-9a-f]{32}")
SHORT, TITLE = 12, 80  # characters
THREAD = 'style="margin:0 0 0.8em"'
FIND = 'style="overflow-wrap:anywhere;margin:0 0 0.3em 1.5em"'


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
    """The threads one below the other, each find below its place, in ``<mark>``: readable in a narrow window, too."""
    threads = "".join(map(thread_html, found.threads))
    shown = f'<div class="hermes-finds {NO_MATH}">{threads}</div>' if threads else ""
    words = typed(escape(summary(found, command)))
    return f'{shown}<div class="{NO_MATH}">{words}</div>'


def thread_html(thread: Thread) -> str:
    """One of them: what it is called, and its finds."""
    first = thread.hits[0].passage.session
    finds = "".join(_find(hit, first) for hit in thread.hits)
    return f"<div {THREAD}><div><code>{escape(short(first))}</code> <b>{escape(_about(thread))}</b></div>{finds}</div>"


def summary(found: Found, command: str) -> str:
    """How much was found, what could not be searched, and how to read on."""
    if not found.threads:
        return tally(found)
    return f"{tally(found)} Read one with `{command} show ID`, around a find with `{command} show ID PLACE`."


def tally(found: Found) -> str:
    """How much was found, and what could not be searched."""
    note = _sentence(found.note)
    if not found.threads:
        return f"Nothing was found. {note}".strip()
    partly = "No message has every word; these have the most of them. " if found.partly else ""
    shown = f", {len(found.hits):,} of them shown" if len(found.hits) < found.total else ""
    return f"{partly}{counted(found.total, 'message')} found{shown}. {note}".strip()


def _thread(thread: Thread) -> Iterator[str]:
    first = thread.hits[0].passage.session
    yield f"{short(first)}  {_about(thread)}"
    for hit in thread.hits:
        passage, where = hit.passage, _elsewhere(hit, first)
        yield f"  {passage.n:>5}  {minute(passage.t)}  {speaker(passage)}{where}"
        yield f"         {marked(hit.snippet)}"
    yield ""


def _find(hit: Hit, first: str) -> str:
    passage = hit.passage
    head = f"[{passage.n}] {speaker(passage)}{_elsewhere(hit, first)} · {minute(passage.t)}"
    return f"<div><small>{escape(head)}</small></div><div {FIND}>{_html(hit.snippet)}</div>"


def _about(thread: Thread) -> str:
    return dotted(brief(clean(thread.title), TITLE) or "(no title)", brief(clean(thread.notebook), TITLE))


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
