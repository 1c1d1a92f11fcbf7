"""Which file a person means by a recording: one that is named, or the one beside the notebook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hermes_kernel.errors import HermesError
from hermes_kernel.settings import Settings
from hermes_kernel.world.folder import here, named
from hermes_kernel.world.recording.beside import CASSETTES, beside
from magics.options import Options

HOW = ("replay_gaps", "replay_tools")  # settings that are options, too
ON, OFF = "on", "off"


def cassette(word: str, write: str) -> str:
    """Where it lies, as an absolute path: a file of the working folder, or by the word `on` the one beside the
    notebook; ``write`` is how a file is named where this is written.

    Raises:
        HermesError: nobody has said which notebook this is.
    """
    if word != ON:
        return str(here() / named(word))
    name = os.environ.get("JPY_SESSION_NAME", "")  # by a Jupyter server, and by `hermes-kernel run`
    if not Path(name).suffix:
        raise HermesError(f"It is not known which notebook this is, so name the file: {write} FILE.")
    return str(beside(here() / name))


def wished(options: Options, settings: Settings) -> dict[str, Any]:
    """The settings that the options of a cell are.

    Raises:
        HermesError: how a recording is to be played is said, but no recording is; or as `cassette`.
    """
    files = {name: cassette(word, f"--{name}") for name in CASSETTES if (word := getattr(options, name))}
    how = {name: True for name in HOW if getattr(options, name)}
    if how and not (files.get("replay") or settings.replay):
        option = f"--{next(iter(how)).replace('_', '-')}"
        raise HermesError(f"{option} goes with --replay FILE, or with `%hermes replay on` in a cell before.")
    replayed = {"replay": settings.replay, "record": settings.record} | files
    asked = options.model and replayed["replay"] in ("", replayed["record"])  # else the recording says who it was
    return {**({"model": options.model} if asked else {}), **files, **how}
