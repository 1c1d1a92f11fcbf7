"""Is everything there that a turn needs? Each finding is one line, and a problem says what to do next.

Looks and asks, changes nothing, shows no key.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import brief
from hermes_kernel.core.windows import means
from hermes_kernel.doctor.beyond import aux, kernel_of_subagents, servers, window
from hermes_kernel.doctor.finding import Finding, State
from hermes_kernel.doctor.planned import planned
from hermes_kernel.given import near_misses
from hermes_kernel.settings import LOCAL, RANGES, NoEndpoint, Settings
from hermes_kernel.world.discover import Listing, listening, listing
from hermes_kernel.world.local import available
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.shared.standing import standing as shared_standing
from hermes_kernel.world.store.standing import Standing, standing

NEEDED = ("hermes-kernel", "openai", "duckdb", "ipykernel", "ipython", "ipywidgets", "jupyter_client", "nbclient")
ROOM = 500_000_000  # bytes below which a session's journal may soon find no room


def examine(
    settings: Settings,
    environ: Mapping[str, str] | None = None,
    nearby: Callable[[], tuple[Listing, ...]] = listening,
) -> tuple[Finding, ...]:
    """Everything looked at, in the order a person would. Takes up to 5 s where an endpoint does not answer."""
    environ = os.environ if environ is None else environ
    others = nearby()
    return (
        *_python(),
        *_kernelspec(),
        *_home(settings.home),
        *_store(settings.home),
        *_shared(settings),
        *planned(settings),
        *_keyfile(settings.home / "kernel.toml"),
        *_names(environ),
        *_endpoint(settings, others),
        *_nearby(others),
        _local(settings),
        *kernel_of_subagents(settings),
        *servers(settings, environ),
    )


def _python() -> Iterator[Finding]:
    yield Finding("Python", State.OK, f"{sys.version.split()[0]} at {sys.executable}")
    missing, found = [], []
    for name in NEEDED:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    yield Finding("packages", State.OK, ", ".join(found))
    if missing:
        yield Finding("packages", State.PROBLEM, f"missing: {', '.join(missing)}", "pip install hermes-kernel")
    elif version("ipykernel").startswith("7.3"):
        yield Finding(
            "ipykernel", State.NOTE, "7.3 may leave a stock kernel's first cell waiting", "pip install 'ipykernel>=7.4'"
        )


def _kernelspec() -> Iterator[Finding]:
    from jupyter_client.kernelspec import KernelSpecManager

    places = KernelSpecManager().find_kernel_specs()
    ours = {name: path for name, path in places.items() if "hermes" in name}
    if "hermes" in places:
        yield Finding("kernel", State.OK, f"hermes at {places['hermes']}")
    elif ours:
        yield Finding("kernel", State.OK, ", ".join(f"{name} at {path}" for name, path in ours.items()))
    else:
        yield Finding(
            "kernel",
            State.PROBLEM,
            "Jupyter does not find the kernel hermes here",
            "hermes-kernel install --sys-prefix",
        )


def _home(home: Path) -> Iterator[Finding]:
    there = next(path for path in (home, *home.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield Finding("home", State.PROBLEM, f"{home} cannot be written", "change its permissions, or set HERMES_HOME")
        return
    yield Finding("home", State.OK, f"{home}" if there == home else f"{home} (made on first use)")
    if os.name == "posix" and there == home and stat.S_IMODE(home.stat().st_mode) & 0o077:
        yield Finding("home", State.NOTE, "others on this machine may read your sessions", f"chmod 700 {home}")
    free = shutil.disk_usage(there).free
    if free < ROOM:
        yield Finding("disk", State.PROBLEM, f"{free / 1e6:,.0f} MB free at {there}", "make room, or set HERMES_HOME")
    else:
        yield Finding("disk", State.OK, f"{free / 1e9:,.1f} GB free at {there}")


def _store(home: Path) -> Iterator[Finding]:
    if not (home / "store").is_dir():
        return
    stands = standing(home)
    said = f"{stands.database} ({stands.size / 1e6:,.1f} MB)" if stands.size else f"{stands.database} (not made yet)"
    yield Finding("store", State.OK, said)
    yield from _unfolded(stands)
    if stands.why:
        then = "go on with one session on one computer at a time"
        yield Finding("store", State.NOTE, f"{stands.why}: the index is on a disk of this computer", then)


def _unfolded(stands: Standing) -> Iterator[Finding]:
    left = f"{stands.unfolded:,} bytes in {counted(stands.journals, 'journal')}"
    if stands.problem:
        yield Finding("store", State.NOTE, f"{left}; {stands.problem}", "nothing is lost: what is told goes on there")
    elif stands.unfolded:
        yield Finding("store", State.OK, f"{left} not folded yet: read and searched all the same")


def _shared(settings: Settings) -> Iterator[Finding]:
    if not settings.store_url:
        return
    try:
        stands = shared_standing(settings.home, settings.store_url)
    except StoreError as error:
        yield Finding("shared store", State.PROBLEM, str(error), "or set HERMES_STORE_URL to nothing to go on alone")
        return
    if stands.problem:
        facts = f"; up to {counted(stands.waiting, 'fact')} of this home may wait for it" if stands.waiting else ""
        then = "nothing is lost: turns go on, and what they say is sent when it can be had"
        yield Finding("shared store", State.NOTE, f"{stands.problem}{facts}", then)
    else:
        yield Finding("shared store", State.OK, f"{stands.at} answers")


def _keyfile(path: Path) -> Iterator[Finding]:
    if os.name == "posix" and path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield Finding("kernel.toml", State.NOTE, "others on this machine may read it", f"chmod 600 {path}")


def _names(environ: Mapping[str, str]) -> Iterator[Finding]:
    for name, meant in near_misses(environ, RANGES).items():
        yield Finding("environment", State.NOTE, f"{name} is not one of ours", f"did you mean {meant}?")


def _endpoint(settings: Settings, servers: tuple[Listing, ...]) -> Iterator[Finding]:
    try:
        settled = settings.settled(available)
    except NoEndpoint as error:
        named = f"; or take {servers[0].base_url} below" if servers else ""
        first, *rest = str(error).splitlines()
        yield Finding("endpoint", State.PROBLEM, first, " ".join(" ".join(rest).split()) + named)
        if settings.base_url or settings.api_key:
            yield from _offers(settings.with_(model="?").settled(available))
        return
    if settled.base_url == LOCAL:
        yield Finding("endpoint", State.OK, f"the local model ({settled.model}), started on first use")
    else:
        yield from _offers(settled)


def _offers(settings: Settings) -> Iterator[Finding]:
    offered = listing(settings.base_url, settings.api_key)
    said = f"{settings.base_url}: {offered.problem or counted(len(offered.models), 'model')}"
    match offered.status:
        case 0:
            yield Finding("endpoint", State.PROBLEM, said, "start the server, or set HERMES_BASE_URL")
        case 401 | 403:
            yield Finding("endpoint", State.PROBLEM, said, "set HERMES_API_KEY to a key that this endpoint knows")
        case _ if offered.problem or not offered.models:
            yield Finding("endpoint", State.NOTE, f"{said}; it does not list its models", "a turn will tell")
        case _:
            yield Finding("endpoint", State.OK, said)
            yield _model(settings.model, offered.models)
            yield from aux(settings, offered.models)
            yield from window(settings, offered.answer)


def _model(model: str, models: tuple[str, ...]) -> Finding:
    if any(means(name, model) for name in models):
        return Finding("model", State.OK, model)
    some = brief(", ".join(models[:8]), 200)
    if model == "?":
        return Finding("model", State.NOTE, f"offered: {some}", "set HERMES_MODEL to one of these")
    return Finding("model", State.PROBLEM, f"{model} is not among those offered", f"set HERMES_MODEL: {some}")


def _nearby(servers: tuple[Listing, ...]) -> Iterator[Finding]:
    for server in servers:
        said = f"{server.base_url} (as {server.name} does) offers {brief(', '.join(server.models[:5]), 120)}"
        then = f"HERMES_BASE_URL={server.base_url} HERMES_MODEL={server.models[0]}"
        yield Finding("on this machine", State.NOTE, said, then)


def _local(settings: Settings) -> Finding:
    if not available():
        then = 'pip install "hermes-kernel[local]"' if settings.base_url == LOCAL else ""
        state = State.PROBLEM if settings.base_url == LOCAL else State.NOTE
        return Finding("local model", state, "not installed", then)
    return Finding("local model", State.OK, "installed (1.5B parameters: good for trying things out)")
