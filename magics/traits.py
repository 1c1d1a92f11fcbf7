"""``%config HermesMagics.<setting>``: a trait for each setting, made from the settings, so that none is missing.

What may be set, and what is, is the desk's business alone; a trait keeps no value of its own, so that none grows old.
"""

from __future__ import annotations

import warnings
from typing import Any

from traitlets import TraitError, TraitType
from traitlets.config import Config, Configurable

from hermes_kernel.settings import RANGES, Settings, SettingsError


class Setting(TraitType[Any, Any]):
    """One setting: read and changed where it is in force."""

    def __init__(self, name: str) -> None:
        allowed = RANGES[name]
        self.setting = name
        super().__init__(None, help=f"{allowed.about}: {allowed.allowed}.")
        self.tag(config=True)

    def get(self, obj: Any, cls: Any = None) -> Any:
        """The value in force."""
        return getattr(obj.desk.settings, self.setting)

    def set(self, obj: Any, value: Any) -> None:
        """Put `value` in force; None changes nothing."""
        if value is None:
            return
        try:
            obj.desk.configure(**{self.setting: value})
        except SettingsError as error:
            raise TraitError(str(error)) from None


def sound(config: Config) -> dict[str, Any]:
    """What `config` sets, without what is refused: IPython keeps what ``%config`` was refused, and files may err. What
    is sound only beside another waits until that one is taken."""
    kept: dict[str, Any] = {}
    left = dict(config.get("HermesMagics", {}))
    while name := next((each for each, value in left.items() if not _wrong(kept | {each: value})), ""):
        kept[name] = left.pop(name)
    for name, value in left.items():
        warnings.warn(f"HermesMagics.{name} is left alone: {_wrong(kept | {name: value})}", stacklevel=2)
    return kept


def _wrong(given: dict[str, Any]) -> str:
    """Why these cannot be in force together; nothing where they can."""
    try:
        Settings.load(**given)
    except SettingsError as error:
        return str(error)
    return ""


Configured: Any = type("Configured", (Configurable,), {name: Setting(name) for name in RANGES})
