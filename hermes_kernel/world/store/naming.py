"""Which session a person means: the same answer of every log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hermes_kernel.world.store.places import NoSession

LAST = "last"
BEGINNING = 4  # characters of an id that may name it


def named(
    text: str, titles: Mapping[str, str], latest: Callable[[], str | None], ids: Callable[[], Iterable[str]]
) -> str:
    """The session that `text` names: its id or four letters or more of its beginning, its exact title, or ``last``,
    which is `latest`. ``titles`` has every session that may be meant, ``ids`` gives all there are.

    Raises:
        NoSession: none, or more than one; the text names those it could be.
    """
    if text in titles:
        return text
    if text == LAST and (newest := latest()):
        return newest
    begun = [session for session in titles if len(text) >= BEGINNING and session.startswith(text)]
    meant = begun or [session for session, title in titles.items() if title == text]
    if len(meant) != 1:
        raise NoSession(text, () if meant else ids(), meant)
    return meant[0]
