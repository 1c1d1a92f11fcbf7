"""A conversation's lineage, as the store knows it without reading a session."""

from __future__ import annotations

from hermes_kernel.view.kept.lineage import Kin, Tree, tree
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.asking.kindred import kindred


def lineage(store: Store, name: str, present: str = "") -> Tree:
    """The relatives of the session that `name` names; a person is in `present`.

    Raises:
        NoSession: there is none, or there are several; the text names those that come close.
        StoreError: the store cannot be read.
    """
    session = store.find(name)
    known = (
        Kin(head.session, head.parent, kind, head.title, head.last, further)
        for head, kind, further in kindred(store.home, session)
    )
    return tree(known, session, present)
