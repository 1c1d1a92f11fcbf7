"""``%config HermesMagics.<setting>``: a trait for each setting, made from the settings, so that none is missing.

What may be set is `Settings`' business alone; a trait hands its value on.
"""

from __future__ import annotations

import warnings
from typing import Any

from traitlets import TraitError, TraitType
from traitlets.config import Config, Configurable

from hermes_kernel.settings import RANGES, Settings, SettingsError

SETTINGS = tuple(RANGES)


class Setting(TraitType[Any, Any]):
    """One setting. Until it is set here, it reads as the setting in force."""

    def __init__(self, name: str) -> None:
        allowed = RANGES[name]
        self.setting = name
        super().__init__(None, allow_none=True, help=f"{allowed.about}: {allowed.allowed}.")
        self.tag(config=True)

    def get(self, obj: Any, cls: Any = None) -> Any:
        """The value in force."""
        value = super().get(obj, cls)
        return getattr(obj.desk.settings, self.setting) if value is None else value

    def validate(self, obj: Any, value: Any) -> Any:
        """What `Settings` makes of `value`."""
        if value is None:
            return None
        try:
            return getattr(Settings().with_(**{self.setting: value}), self.setting)
        except SettingsError as error:
            raise TraitError(str(error)) from None


def sound(config: Config) -> Config:
    """`config` without what `Settings` refuses: IPython keeps what ``%config`` was refused, and files may err."""
    kept = Config(config)
    for name, value in dict(config.get("HermesMagics", {})).items():
        try:
            Settings().with_(**{name: value})
        except SettingsError as error:
            warnings.warn(f"HermesMagics.{name} is left alone: {error}", stacklevel=2)
            kept.HermesMagics = Config({k: v for k, v in kept.HermesMagics.items() if k != name})
    return kept


Configured: Any = type("Configured", (Configurable,), {name: Setting(name) for name in SETTINGS})
