"""The recordings of one agent: where it records, and what it answers from, as its settings say from time to time."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from weakref import WeakSet, WeakValueDictionary

from hermes_kernel.core.recording.cassette import Head
from hermes_kernel.settings import Settings, SettingsError
from hermes_kernel.world.folder import here
from hermes_kernel.world.model.wire import Wire
from hermes_kernel.world.ports import Toolbox
from hermes_kernel.world.recording.calls import RecordedTools, ReplayedTools
from hermes_kernel.world.recording.form import Form, Surroundings
from hermes_kernel.world.recording.listening import Recording
from hermes_kernel.world.recording.player import Player, stamp
from hermes_kernel.world.recording.reel import Reel
from hermes_kernel.world.recording.replaying import Filling, Replaying


class Recorded(NamedTuple):
    """What is recorded or answered from now: how many ``exchanges`` and ``calls`` the file holds. ``mode`` is
    ``record``, ``replay`` or ``both``; ``missed`` what was different in the last request without an answer, in several
    lines; ``unused`` how many of what is answered from were not asked for yet."""

    path: Path
    exchanges: int
    calls: int
    mode: str
    missed: str | None = None
    unused: tuple[str, ...] = ()


_VARIABLE = re.compile(r"#\w*\Z")
_lock = threading.Lock()
_reels: dict[Path, Reel] = {}
"""The files that this process has recorded in: all of its agents record in the same one."""
_users: dict[Path, WeakSet[Recordings]] = {}
_players: WeakValueDictionary[Path, Player] = WeakValueDictionary()
"""What agents that are alive answer from: each takes up where the others are."""


def _as_recorded(settings: Settings, player: Player, form: Form) -> Settings:
    try:
        return settings.with_(**form.settings(player.settings))
    except SettingsError as error:
        raise SettingsError(f"{player.path}, line 1: {error}") from None


def _without_keys(settings: Settings) -> Settings:
    """No model has a key of the environment's, whatever variable it names."""
    models = tuple(_VARIABLE.sub("", model) for model in settings.fallback_models)
    return settings.with_(fallback_models=models, aux_model=_VARIABLE.sub("", settings.aux_model))


class Recordings:
    """The recordings of an agent in these surroundings. A file is gone on with for as long as the agent lives."""

    def __init__(self, around: Surroundings) -> None:
        self._clock = around.clock
        self._settings: Settings | None = None
        self._paths: dict[str, Path] = {}
        self._reel: Reel | None = None
        self._player: Player | None = None
        self._kept: dict[Path, Player] = {}
        self._form = Form(around)

    @property
    def alone(self) -> bool:
        """Everything is answered from a recording."""
        return self._player is not None and not self._fills

    @property
    def now(self) -> Recorded | None:
        """What is recorded or answered from; None: nothing."""
        reel, player = self._reel, self._player
        missed, tools = player.missed if player else None, bool(self._settings and self._settings.replay_tools)
        unused = player.unused(calls=tools) if player else ()
        if reel is not None:
            mode = "both" if self._fills else "record"
            return Recorded(reel.path, reel.exchanges, reel.calls, mode, missed, unused)
        if player is not None:
            held = player.cassette
            return Recorded(player.path, len(held.exchanges), len(held.calls), "replay", missed, unused)
        return None

    def use(self, wished: Settings) -> Settings:
        """Record in and answer from what `wished` names: the settings that are in force then. Where everything is
        answered, or nothing is said of whom to ask, the recording says who is asked; a key in a variable that it names
        is sent nowhere.

        Raises:
            SettingsError: what should be answered from is not there, or is no recording; nothing is changed.
        """
        record, replay = self._path(wished.record), self._path(wished.replay)
        fills = record is not None and record == replay
        player = self._played(replay, fills=fills) if replay else None
        said = fills and bool(wished.base_url or wished.model or wished.api_key)
        settings = _as_recorded(wished, player, self._form) if player and not said else wished
        self._form.theirs = settings.secrets  # also those of variables that are named, and not used
        if fills and not said:
            settings = _without_keys(settings)
        reel = self._recorded(record) if record else None
        self._settings, self._player, self._reel = settings, player, reel
        return settings

    def wire(self, real: Callable[[], Wire]) -> Wire:
        """What requests go out by: `real`, unless a recording stands before it."""
        clock = self._clock if self._settings and self._settings.replay_gaps else None
        replaying = Replaying(self._player, self._form, clock) if self._player else None
        if self._reel is None:
            return replaying or real()
        if replaying is None or self._fills:
            recording = Recording(real(), self._reel, self._form)
            return Filling(replaying, recording) if replaying else recording
        return Recording(replaying, self._reel, self._form)

    def begin(self, head: Callable[[], Head]) -> None:
        """`head` says with what settings is recorded from here on."""
        if self._reel is not None:
            before = self._player.cassette if self._player and self._fills else None
            self._reel.take_up(lambda: self._form.head(head()), before)

    def tools(self, tools: Toolbox) -> Toolbox:
        """`tools`, recorded or answered for as is wished."""
        if self._reel is not None:
            tools = RecordedTools(tools, self._reel, self._form, self._player if self._fills else None)
        if self._player is not None and self._settings and self._settings.replay_tools:
            tools = ReplayedTools(tools, self._player, self._form, fill=self._fills, spec=self._settings.spec)
        return tools

    def close(self) -> None:
        """Others may record in what was recorded in. Can be called again."""
        self._reel = self._player = None
        self._kept.clear()
        with _lock:
            for path, users in _users.items():
                users.discard(self)
                if not users:
                    _reels[path].let_go()

    # --- files

    @property
    def _fills(self) -> bool:
        return bool(self._reel and self._player and self._reel.path == self._player.path)

    def _path(self, name: str) -> Path | None:
        if name and name not in self._paths:
            try:
                path = here() / Path(name).expanduser()
            except RuntimeError:
                raise SettingsError(f"There is no home folder for the recording {name}.") from None
            self._paths[name] = Path(os.path.realpath(path))
        return self._paths.get(name)

    def _played(self, path: Path, *, fills: bool) -> Player | None:
        with _lock:
            reel = _reels.get(path)
            found = self._kept.get(path) or _players.get(path)
            ours = fills and reel is not None and reel.begun
            if found is None or (stamp(path) != found.stamp and not ours):
                if fills and not stamp(path):
                    return None
                found = Player(path)
            _players[path] = self._kept[path] = found
            return found

    def _recorded(self, path: Path) -> Reel:
        with _lock:
            _users.setdefault(path, WeakSet()).add(self)
            return _reels.setdefault(path, Reel(path))
