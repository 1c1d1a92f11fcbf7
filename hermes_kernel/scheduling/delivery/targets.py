"""Where reports may go: names a person has given to addresses. What a job, a model or a record knows is the name.

An address stands in the environment (``HERMES_NOTIFY_<NAME>``), in kernel.toml's ``[notify]``, or, given in a command,
in ``schedule/targets.json`` of the home, which its owner alone can read; the first of these wins. Names are letters and
digits in any case with dashes between; an underscore is a dash.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path, PurePath
from typing import NamedTuple

from hermes_kernel.core.schedule.job import DESKTOP, FILE, NONE, NOTEBOOK
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.given import MOST, SAVED, TARGET
from hermes_kernel.ranges import Address
from hermes_kernel.scheduling.delivery.addressed import kind_of, opened
from hermes_kernel.settings import Settings, SettingsError
from hermes_kernel.world.store.disk import FULL, content, full, make, plain_in, put
from hermes_kernel.world.store.locks import Busy, held

FIXED = (NONE, NOTEBOOK, DESKTOP)
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
WAIT = 5.0  # seconds for another process that writes it
SETTINGS = "kernel.toml"


class Shown(NamedTuple):
    """A target as a person sees it: ``address`` without what may be secret, ``where`` it was set."""

    name: str
    address: str
    where: str


class Targets:
    """The targets of a home. ``settings`` are those to go by; None: those in force whenever it is asked, so that what
    stays for days need not be started anew."""

    def __init__(
        self, home: Path, settings: Settings | None = None, *, environ: Mapping[str, str] | None = None
    ) -> None:  # fmt: skip
        self._home = home
        self._path = home / SAVED
        self._settings = settings
        self._environ = os.environ if environ is None else environ

    def names(self) -> tuple[str, ...]:
        """In the order of the alphabet."""
        return tuple(sorted(self._all()))

    def shown(self) -> tuple[Shown, ...]:
        """Each for a person to read."""
        return tuple(Shown(name, address.shown, where) for name, (address, where) in sorted(self._all().items()))

    def secrets(self) -> frozenset[str]:
        """What may be secret in any address; settings that cannot be read hold nobody up."""
        with suppress(HermesError):
            return _parts(self._all())
        return _parts(self._among({}))

    def address(self, name: str) -> Address | None:
        """None where there is no such name."""
        found = self._all().get(_same(name))
        return found[0] if found else None

    def check(self, deliver: Sequence[str], *, by: str = "person") -> None:
        """Whether reports can go to each of `deliver`. A model may name a file only as Markdown or text below the
        folder its job works in.

        Raises:
            HermesError: what is no name of a target; it says which there are.
        """
        for each in deliver:
            if each.startswith(FILE):
                _check_file(each.removeprefix(FILE).strip(), by)
            elif each not in FIXED and not self.address(each):
                raise HermesError(self.no_target(each))

    def save(self, name: str, url: str) -> str:
        """Keep `url` as the target `name`, in place of what was kept; the name as it is from now on.

        Raises:
            HermesError: a name or an address that is none, one set elsewhere, or a disk that does not take it.
        """
        name, address = _named(name), _addressed(url)
        self._not_elsewhere(name)
        with self._changing() as kept:
            kept[name] = str(address)
        return name

    def remove(self, name: str) -> None:
        """Forget the target.

        Raises:
            HermesError: there is none, it is set elsewhere, or a disk that does not take it.
        """
        name = _same(name)
        self._not_elsewhere(name)
        with self._changing() as kept:
            if kept.pop(name, None) is None:
                raise HermesError(self.no_target(name))

    def named(self, deliver: Sequence[str], *, by: str = "person") -> tuple[str, ...]:
        """`deliver` with the name of its target for each address that a person gave; checked. Raises as `save` and
        `check`."""
        self.check([each for each in deliver if by != "person" or not _is_address(each)], by=by)
        names = tuple(self.name_of(each) if by == "person" and _is_address(each) else each for each in deliver)
        return tuple(name if name.startswith(FILE) else _same(name) for name in names)

    def name_of(self, url: str) -> str:
        """The name of the target with this address, which is kept under one of its kind, such as ``slack-1``, where
        there is none yet. Raises as `save`."""
        address = _addressed(url)
        kind = kind_of(address)
        with self._changing() as kept:
            everything = {name: known for name, (known, _) in self._all().items()}
            for name, known in sorted(everything.items()):
                if known == address:
                    return name
            name = next(name for n in count(1) if (name := f"{kind}-{n}") not in everything)
            kept[name] = str(address)
        return name

    def no_target(self, name: str) -> str:
        """What to say of a name that is none. Never what was given where that may be an address."""
        if ":/" in name:
            return (
                "An address is a person's to give: `hermes-kernel schedule target add NAME KIND://…`; jobs know names."
            )
        there = ", ".join((*FIXED, f"{FILE}PATH", *self.names()))
        return (
            f"There is no target {brief(name, 40)!r}; a report can go to: {there}. "
            "`hermes-kernel schedule target add NAME KIND://…` makes one."
        )

    def _all(self) -> dict[str, tuple[Address, str]]:
        return self._among(self._written())

    def _among(self, written: Mapping[str, str]) -> dict[str, tuple[Address, str]]:
        kept = {name: (url, str(self._path)) for name, url in self._kept().items()}
        given = {_same(name): (url, SETTINGS) for name, url in written.items()}
        environ = {
            _same(name.removeprefix(TARGET)): (url, name)
            for name, url in self._environ.items()
            if name.startswith(TARGET) and url.strip()
        }
        found = {**kept, **given, **environ}
        return {name: (Address(url.strip()), where) for name, (url, where) in found.items() if NAME.fullmatch(name)}

    def _written(self) -> Mapping[str, str]:
        try:
            settings = self._settings or Settings.load(environ=self._environ, home=self._home)
        except SettingsError as error:
            raise HermesError(str(error)) from None
        return settings.notify

    def _kept(self) -> dict[str, str]:
        return {name: url for name, url in plain_in(self._path, MOST).items() if isinstance(url, str)}

    def _not_elsewhere(self, name: str) -> None:
        _, where = self._all().get(name, ("", str(self._path)))
        if where != str(self._path):
            raise HermesError(f"{name} is set in {where}: change it there, or take another name.")

    @contextmanager
    def _changing(self) -> Iterator[dict[str, str]]:
        """What is kept, to be changed by one process at a time; on disk when this ends."""
        try:
            make(self._path.parent)
            with held(self._path.with_suffix(".lock"), WAIT):
                kept = self._kept()
                if not kept and self._path.exists() and content(self._path, MOST).strip() not in (b"", b"{}"):
                    raise HermesError(f"{self._path} is not what it was written as: mend it, or move it away.")
                before = dict(kept)
                yield kept
                if kept != before:
                    self._put(kept)
        except Busy:
            raise HermesError(f"{self._path} is being changed by another process: try again.") from None
        except OSError as error:
            said = full(self._path.parent) if error.errno in FULL else f"{self._path}: {error.strerror or error}"
            raise HermesError(f"The target was not kept: {said}.") from None

    def _put(self, kept: Mapping[str, str]) -> None:
        text = json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True)
        put(f"{text}\n".encode(), self._path, self._path.with_name(f".{secrets.token_hex(8)}.new"))


def _parts(known: Mapping[str, tuple[Address, str]]) -> frozenset[str]:
    return frozenset(part for address, _ in known.values() for part in address.secrets)


def _same(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _named(name: str) -> str:
    known = _same(name)
    if "://" in name or not NAME.fullmatch(known) or known in FIXED:
        said = "That" if ":/" in name else repr(brief(name, 40))
        taken = ", ".join(FIXED)
        raise HermesError(f"{said} cannot be a target's name: letters, digits and dashes, at most 40, none of {taken}.")
    return known


def _addressed(url: str) -> Address:
    """An address that apprise understands."""
    address = Address(url.strip())
    if not address.isprintable():
        raise HermesError("An address is one line, without control characters.")
    opened(address)
    return address


def _is_address(name: str) -> bool:
    return "://" in name and not name.startswith(FILE)


def _check_file(path: str, by: str) -> None:
    if not path or "\0" in path or path.endswith("/"):
        raise HermesError(f"{FILE} takes the path of a file, such as {FILE}reports/{{date}}.md.")
    pure = PurePath(path)
    inside = not pure.is_absolute() and not path.startswith("~")
    if inside and ".." in pure.parts:
        raise HermesError(f"{brief(path, 60)!r} leads out of the job's folder: name the file from / or ~ on.")
    if by != "person" and not (inside and pure.suffix in {".md", ".txt"}):
        raise HermesError(
            f"{brief(path, 60)!r} is not for a model to write: name an .md or .txt below the job's folder."
        )
