"""Which models may be asked, where, with which key; and which of them are better left alone for a while."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from hermes_kernel.core.events import Failed
from hermes_kernel.core.faults import Fault
from hermes_kernel.settings import LOCAL, OPENAI, Settings, near

COOL_DOWN_SECONDS = 60.0
COOLS = frozenset({Fault.RATE_LIMIT, Fault.BILLING, Fault.AUTH})
"""Faults of an account rather than of a call: the route is left alone for a while."""

_ELSEWHERE = re.compile(r"(?P<model>.*?)@(?P<base_url>(?:https?://|local:)[^#]*)(?:#(?P<variable>\w+))?\Z")


@dataclass(frozen=True, slots=True)
class Route:
    """One model at one endpoint. The key is sent to that endpoint alone and never shown."""

    model: str
    base_url: str
    api_key: str = field(default="", repr=False)

    @property
    def is_local(self) -> bool:
        """Whether the server is one we start ourselves."""
        return self.base_url.startswith(LOCAL)

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine or in a private network."""
        return near(self.base_url)

    @property
    def account(self) -> tuple[str, str]:
        """Whose limits count: routes with the same key at the same address share them."""
        return self.base_url, self.api_key

    @property
    def whole(self) -> str:
        """The model and where it is, as it may be shown."""
        return f"{self.model}@{self.endpoint}"

    @property
    def endpoint(self) -> str:
        """The address as it may be shown: without user, password and query."""
        parts = urlsplit(self.base_url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path}" if host else self.base_url


def routes_of(settings: Settings, environ: Mapping[str, str]) -> tuple[Route, ...]:
    """The model of `settings`, then its fallbacks: ``model``, ``model@base_url`` or ``model@base_url#KEY_VARIABLE``.

    A key goes to the endpoint it was given for: an address elsewhere has the key its variable names, or none.
    """
    base_url = settings.base_url or (OPENAI if settings.api_key else "")
    main = Route(settings.model, base_url, str(settings.api_key))
    return (main, *(_fallback(text, main, environ) for text in settings.fallback_models))


def _fallback(text: str, main: Route, environ: Mapping[str, str]) -> Route:
    found = _ELSEWHERE.match(text)
    if not found:
        return Route(text, main.base_url, main.api_key)
    base_url, variable = found["base_url"].rstrip("/"), found["variable"]
    same_place = _origin(base_url) == _origin(main.base_url)
    key = environ.get(variable, "") if variable else main.api_key if same_place else ""
    return Route(found["model"], base_url, key)


def _origin(base_url: str) -> tuple[str, str]:
    parts = urlsplit(base_url)
    return parts.scheme, parts.netloc.lower()


class Cooling:
    """Routes that failed for reasons of their account. Times as in `Clock.elapsed`."""

    def __init__(self) -> None:
        self._until: dict[int, float] = {}

    def failed(self, route: int, failed: Failed, elapsed: float) -> None:
        """Leave `route` alone for as long as its server asks, or a minute, if the fault is of that kind."""
        if failed.fault in COOLS:
            self._until[route] = elapsed + (failed.wait if failed.wait is not None else COOL_DOWN_SECONDS)

    def replied(self, route: int) -> None:
        """It works again."""
        self._until.pop(route, None)

    def is_cooling(self, route: int, elapsed: float) -> bool:
        """Whether `route` is better left alone now."""
        return self._until.get(route, 0.0) > elapsed
