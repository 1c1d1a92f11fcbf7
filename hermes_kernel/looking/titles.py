"""What a conversation is called that nobody is in."""

from __future__ import annotations

from hermes_kernel.checks import titled
from hermes_kernel.core.events import Titled
from hermes_kernel.core.redact import redact
from hermes_kernel.world.store import Store


def entitle(store: Store, name: str, title: str, secrets: frozenset[str]) -> None:
    """Call the session that `name` names `title`, without the `secrets` in it.

    Raises:
        HermesError: this is no title.
        NoSession: there is no such session, or there are several.
        StoreError: somebody is in it, or the store cannot be written.
    """
    called = redact(titled(title), secrets)
    session = store.find(name)
    with store.claim(session):
        store.append(session, Titled(called))
