"""What there is to name in this notebook, looked up when Tab is pressed. What is wrong with the store or a setting is
said when a command runs: here there is nothing to name then.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from hermes_kernel.errors import HermesError
from hermes_kernel.looking import conversations
from hermes_kernel.settings import SettingsError
from hermes_kernel.world.folder import here
from hermes_kernel.world.store import StoreError
from magics.tab.completing import Known, completed
from magics.tab.marks import Fitting, looked_at

if TYPE_CHECKING:
    from IPython.core.completer import SimpleMatcherResult

    from hermes_kernel.world.store import SessionRow
    from magics.desk import Desk

TROUBLE = (HermesError, SettingsError, StoreError)
MOST = 50  # conversations that are offered, the latest


def known_to(desk: Desk) -> Known:
    """What there is in this notebook."""
    found = _Found(desk)
    return Known(
        desk.shell.user_ns, lambda expression: looked_at(desk.shell, expression), here(),
        found.skills, found.latest, found.models, found.tools, found.there,
    )  # fmt: skip


def offered(desk: Desk, written: str, *, prompt: bool = False) -> Fitting:
    """`completed` in this notebook; nothing where anything fails, for whoever pressed Tab waits for an answer."""
    with suppress(Exception):
        return completed(written, known_to(desk), prompt=prompt)
    return Fitting("", ())


def matched(desk: Desk, before: str, above: str = "") -> SimpleMatcherResult:
    """`offered` as IPython wants it. `above` are the lines above the one that is written."""
    from IPython.core.completer import SimpleCompletion

    found = offered(desk, above + before)
    completions = [SimpleCompletion(text, type="hermes") for text in found.words]
    return {"completions": completions, "matched_fragment": found.begun, "suppress": bool(found.words)}


class _Found:
    """Each is looked up only where it is asked for."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def latest(self) -> Iterable[SessionRow]:
        try:
            return conversations(self._desk.store, MOST)
        except TROUBLE:
            return ()

    def skills(self) -> Iterable[str]:
        try:
            return self._desk.agent.learning.skills.names()
        except TROUBLE:
            return ()

    def models(self) -> Iterable[str]:
        """Those that are set, and those that were asked lately. The endpoint is not asked: it may be slow, or away."""
        try:
            settings = self._desk.settings
        except TROUBLE:
            return ()
        told = (settings.model, *settings.fallback_models, settings.aux_model, *(row.model for row in self.latest()))
        return dict.fromkeys(filter(None, told))

    def tools(self) -> Iterable[str]:
        try:
            self._desk.offer()
            return tuple(spec.name for spec in self._desk.agent.tools.specs())
        except TROUBLE:
            return ()

    def there(self, kind: str) -> Iterable[str]:
        from magics.commands.jobs import named

        try:
            return self.skills() if kind == "skill" else named(self._desk, kind)
        except TROUBLE:
            return ()
