"""Which server a ``store_url`` names. A password comes in here and is never said again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from hermes_kernel.world.store.places import StoreError

SCHEMES = ("postgresql", "postgres")
SCHEMA = "hermes_kernel"
NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

_FORM = "write postgresql://USER:PASSWORD@HOST:5432/DATABASE"
_MISSING = "a shared store needs psycopg: run `pip install 'hermes-kernel[team]'`"


@dataclass(frozen=True, slots=True)
class Address:
    """A database and the schema in it. ``url`` is as it was given, ``conninfo`` is for libpq, ``str()`` for people."""

    url: str = field(repr=False)
    conninfo: str = field(repr=False)
    shown: str
    schema: str = SCHEMA

    def __str__(self) -> str:
        return self.shown


def address(url: str) -> Address:
    """What `url` names. Besides libpq's own options it may say ``schema=NAME``, for several stores in one database.

    Raises:
        StoreError: it is no such URL, or psycopg is not installed; the text says what to do and holds no password.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise StoreError(f"store_url cannot be read: {_FORM}") from None
    if parts.scheme not in SCHEMES:
        raise StoreError(f"store_url is no PostgreSQL URL: {_FORM}")
    if find_spec("psycopg") is None:
        raise StoreError(_MISSING)
    conninfo, schema = _without_schema(parts)
    return Address(url, conninfo, _shown(conninfo), schema)


def _without_schema(parts: SplitResult) -> tuple[str, str]:
    given = parse_qsl(parts.query, keep_blank_values=True)
    schema = dict(given).get("schema", SCHEMA)
    if not NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise StoreError("schema in store_url: use lower-case letters, digits and _, at most 63, not pg_ at the start")
    rest = urlencode([(name, value) for name, value in given if name != "schema"])
    return urlunsplit(parts._replace(query=rest)), schema


def _shown(conninfo: str) -> str:
    """Read by libpq, which knows all forms; its own complaint might quote the password."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(conninfo)
    except ProgrammingError:
        raise StoreError(f"store_url cannot be read: {_FORM}, with %-escapes for odd characters") from None
    host, port = parts.get("host") or parts.get("hostaddr") or "the local server", parts.get("port") or "5432"
    return f"{host}:{port}/{parts.get('dbname') or parts.get('user') or ''}"
