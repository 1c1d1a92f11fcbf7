"""The panel of what models have used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from magics.desk import Desk
    from magics.panels.faces import Face
    from magics.table import Shown


def face(_desk: Desk, _rest: str, _shown: Shown) -> Face | None:
    """What opens the panel."""
    return None
