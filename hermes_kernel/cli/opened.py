"""The store of this home for as long as a command needs it, and what it says as this command says it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hermes_kernel.cli.trouble import Failure, Misuse
from hermes_kernel.settings import Settings

if TYPE_CHECKING:
    from hermes_kernel.world.store import Store


Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse gives the type of what it returns no public name
HERE = "hermes-kernel"  # what a person writes before a command


def command(commands: Commands[argparse.ArgumentParser], name: str, about: str) -> argparse.ArgumentParser:
    """A command whose own help says what it does, too."""
    return commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")


@contextmanager
def opened() -> Iterator[Store]:
    """The store, closed in the end. That a shared one cannot be had is said: what others told may be missing.

    Raises:
        SettingsError: a setting is wrong.
        Failure: there is no such session.
        Misuse: a search or a statement means nothing.
        StoreError: the store cannot be used.
    """
    from hermes_kernel.core.search.query import QueryError
    from hermes_kernel.looking import NoAnswer
    from hermes_kernel.world.store import NoSession, StoreError
    from hermes_kernel.world.store.opening import open_store

    settings = Settings.load()
    store = open_store(settings.home, settings.store_url)
    try:
        with suppress(StoreError):  # a home that cannot be written can be read
            store.fold()
        yield store
        if store.waiting:
            print(f"{HERE}: {store.waiting}", file=sys.stderr)
    except NoSession as error:
        raise Failure("\n".join(filter(None, (str(error), store.waiting)))) from None
    except (QueryError, NoAnswer) as error:
        raise Misuse(str(error)) from None
    finally:
        store.close()
