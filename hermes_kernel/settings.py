"""Everything that can be set, in one frozen value. A call argument beats the environment beats ``kernel.toml``.

Nothing unknown or out of range gets in, and what is refused is refused by name with what is allowed.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from hermes_kernel.core.text import brief
from hermes_kernel.given import (
    ASKED,
    OPENAI_NAMES,
    PLAYED,
    TARGET,
    Given,
    Unreadable,
    from_openai,
    in_environment,
    in_file,
    saved_addresses,
)
from hermes_kernel.ranges import (
    Address,
    Range,
    Secret,
    Server,
    Tables,
    address,
    addresses,
    choice,
    file,
    folder,
    line,
    names,
    near,
    number,
    said,
    secret,
    server,
    switch,
    tables,
    whole,
)

__all__ = [
    "FIXED", "HOW", "LOCAL", "OPENAI", "RANGES", "NoEndpoint", "Settings", "SettingsError", "Shown", "near",
]  # fmt: skip

HOME = "~/.hermes"
OPENAI = "https://api.openai.com/v1"
HOW = """No model is configured. Any one of these will do:
  pip install "hermes-kernel[local]" for a small local model, or start Ollama, LM Studio or llama-server and
  set HERMES_BASE_URL and HERMES_MODEL (HERMES_API_KEY for a hosted one), here or in $HERMES_HOME/kernel.toml."""
LOCAL, LOCAL_MODEL = "local:", "qwen"
UNNAMED = "No model is named for {}: set HERMES_MODEL. `hermes-kernel doctor` lists what is offered there."
IN_ORDER = {
    "retry_base_seconds": "retry_max_seconds", "compress_at": "compress_hard_at", "stale_days": "archive_days",
}  # fmt: skip
FIXED = frozenset({"home", "store_url", "spec"})  # what an agent stands on while it lives
IMPLIED = "replay"  # where `spec` comes from in a replay
DAY = 86_400
FAR_FIRST_BYTE, NEAR_FIRST_BYTE = 180.0, 900.0  # seconds; a model on one's own machine may still be loading


class SettingsError(ValueError):
    """A setting was refused. The text names it and says what is allowed."""


class NoEndpoint(SettingsError):
    """There is no model to ask. The text says in three lines how to get one."""


class Shown(NamedTuple):
    """A setting as a person sees it. ``source`` is ``default`` or where the value was given."""

    name: str
    value: str
    source: str
    default: str
    allowed: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One value for a whole agent. Seconds are of elapsed time.

    Raises:
        SettingsError: a value is of the wrong kind or out of its range.
    """

    home: Path = folder(HOME, "where sessions, memory and skills are kept")
    store_url: str = server("the PostgreSQL server of a store that machines share; its password is never shown")
    base_url: str = address("an OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1, or `local:`")
    api_key: str = secret("the endpoint's key; never shown, logged or stored")
    model: str = line("the model to ask")
    fallback_models: tuple[str, ...] = names("models to ask, in this order, when the first one fails")
    aux_model: str = line("the model for side work such as summaries; empty: `model`")
    max_iterations: int = whole(90, 1, 100_000, "model calls a turn may make, its subagents' included")
    refunds: int = whole(0, 0, 100_000, "iterations of nothing but `python` that a turn gets back, at most")
    max_retries: int = whole(3, 0, 100, "times one model call is tried again")
    retry_base_seconds: float = number(5, 0, 3600, "the first wait before a retry; each next one is twice as long")
    retry_max_seconds: float = number(120, 0, DAY, "the longest wait before a retry, unless the server names one")
    stale_seconds: float = number(90, 0.05, DAY, "silence within a stream after which its connection is closed")
    first_byte_seconds: float = number(0, 0, DAY, "wait for a stream to begin; 0: 180, or 900 for near addresses")
    queued_seconds: float = number(600, 0.05, DAY, "how long keep-alives alone are accepted as being queued")
    connect_seconds: float = number(30, 0.05, 3600, "wait for a connection")
    turn_seconds: float = number(0, 0, 7 * DAY, "a turn's wall-clock limit; 0: none")
    max_continuations: int = whole(3, 0, 100, "times in a row that an answer cut by the output limit is continued")
    max_tokens: int = whole(0, 0, 10_000_000, "output limit of one call; 0: the endpoint's own")
    model_max_tokens: int = whole(0, 0, 10_000_000, "the most output the model can give; 0: not known")
    context_window: int = whole(0, 0, 100_000_000, "tokens the model can read; 0: not known")
    requests_per_minute: int = whole(0, 0, 1_000_000, "calls per minute to one endpoint; 0: as many as it lets")
    tool_seconds: float = number(300, 0.05, 7 * DAY, "a tool's deadline, unless it sets its own")
    tool_workers: int = whole(8, 1, 1000, "plain functions that run at once as tools")
    tool_result_chars: int = whole(50_000, 200, 100_000_000, "characters of a result that the model sees")
    compress_at: float = number(0.5, 0.05, 1, "share of the window at which a conversation is compressed")
    compress_hard_at: float = number(0.85, 0.05, 1, "share of the window at which it is compressed first of all")
    protect_first: int = whole(2, 0, 1000, "messages at the start that compression leaves alone")
    protect_last: int = whole(20, 0, 10_000, "messages at the end that compression leaves alone")
    delegate_depth: int = whole(1, 0, 5, "levels of subagents below an agent; 0: none")
    delegate_workers: int = whole(8, 1, 1000, "subagents that work at once")
    delegate_seconds: float = number(1800, 1, 7 * DAY, "time a group of subagents may take")
    delegate_kernel: str = line("the kernelspec in which a subagent's own Python runs", "python3")
    map_workers: int = whole(8, 1, 10_000, "rows of a map that are asked at once")
    learning: bool = switch("let the slow loops (nudge, skill review, curator) run by themselves", default=True)
    nudge_every_turns: int = whole(10, 0, 100_000, "turns after which is asked what is worth remembering; 0: never")
    nudge_seconds: float = number(600, 0, 7 * DAY, "seconds after which that is asked, if there was a turn; 0: never")
    memory_writes: str = choice("on", ("on", "ask", "off"), "may a model change MEMORY.md and USER.md")
    memory_chars: int = whole(2200, 0, 1_000_000, "size of MEMORY.md at most")
    user_chars: int = whole(1375, 0, 1_000_000, "size of USER.md at most")
    skill_writes: str = choice("on", ("on", "ask", "off"), "may a model make and change skills")
    skill_trigger_calls: int = whole(5, 1, 100_000, "tool calls in a task that make it worth a skill")
    curator_days: float = number(7, 0.01, 3650, "days between the curator's runs")
    curator_idle_hours: float = number(2, 0, 8760, "idle hours before the curator runs")
    stale_days: float = number(30, 0.01, 36_500, "days unused after which a skill is stale")
    archive_days: float = number(90, 0.01, 36_500, "days unused after which a skill is archived")
    schedule_writes: str = choice("ask", ("on", "ask", "off"), "may a model make and change scheduled jobs")
    schedule_watch: bool = switch("let a kernel that is open run jobs that are due, if nobody else does", default=True)
    schedule_workers: int = whole(2, 1, 100, "runs of scheduled jobs that go on at once")
    approvals: str = choice("ask", ("ask", "allow", "deny"), "what becomes of dangerous commands and writes elsewhere")
    answer_seconds: float = number(3600, 0, 7 * DAY, "wait for a person, then the default is taken; 0: for ever")
    cells: bool = switch("show the model the cells run since the last turn", default=True)
    vision: str = choice("auto", ("auto", "on", "off"), "give the model plots and images as images")
    mcp_servers: Tables = tables("MCP servers whose tools are offered; `$HERMES_HOME/mcp.json` may name more")
    notify: Tables = addresses("where reports may go: names with apprise addresses; never shown, logged or stored")
    plain: bool = switch("text only, no widgets", default=False)
    record: str = file("a file to record model traffic in")
    replay: str = file("a file of recorded model traffic to answer from, without a network")
    replay_gaps: bool = switch("play a recording with its own pauses", default=False)
    replay_tools: bool = switch("answer tool calls from the recording, too", default=False)
    spec: bool = switch("fixed clock, ids and order, for outputs that stay the same; on in a replay", default=False)
    sources: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in RANGES:
            object.__setattr__(self, name, _read(name, Given(getattr(self, name), "argument")))
        if not self.first_byte_seconds:
            seconds = NEAR_FIRST_BYTE if near(self.base_url) else FAR_FIRST_BYTE
            object.__setattr__(self, "first_byte_seconds", seconds)
        if self.replay and not self.spec and "spec" not in self.sources:
            object.__setattr__(self, "spec", True)
            object.__setattr__(self, "sources", {**self.sources, "spec": IMPLIED})
        for lower, upper in IN_ORDER.items():
            if getattr(self, lower) > getattr(self, upper):
                raise SettingsError(f"{lower} must not be above {upper} ({getattr(self, upper):g}).")

    @classmethod
    def load(cls, *, environ: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """The settings in force. An override of None is no override; unknown environment names are none of ours.

        Raises:
            SettingsError: the name, the place it was set and what is allowed; or a kernel.toml that cannot be read.
        """
        environ = os.environ if environ is None else environ
        arguments = {name: Given(raw, "argument") for name, raw in overrides.items() if raw is not None}
        ours = in_environment(environ, RANGES)
        home = arguments.get("home") or ours.get("home") or Given(HOME, "default")
        openai, written, named = from_openai(environ), _written(home), ours | arguments
        found = openai | written | named
        if home.where == "default" and _is_spec(found):
            kept = ASKED if _is_spec(named) else ASKED | PLAYED
            found = openai | {name: written[name] for name in kept & written.keys()} | named
        values = {name: _read(name, given) for name, given in found.items()}
        return cls(**_guarded(values, {name: given.where for name, given in found.items()}))

    def with_(self, **changes: Any) -> Self:
        """The same settings with these changed; None changes nothing.

        Raises:
            SettingsError: as `load`.
        """
        return self._changed({name: Given(raw, "argument") for name, raw in changes.items() if raw is not None})

    def settled(self, local: Callable[[], bool]) -> Self:
        """These settings with an endpoint and a model in them: OpenAI's own address where only a key is set, else the
        local model where `local` says that it is installed.

        Raises:
            NoEndpoint: nothing is configured and there is no local model, or no model is named.
        """
        found: dict[str, Given] = {}
        if not self.base_url:
            found["base_url"] = self._endpoint(local)
        base_url = found["base_url"].raw if found else self.base_url
        if not self.model and base_url != LOCAL:
            raise NoEndpoint(UNNAMED.format(base_url))
        if not self.model:
            found["model"] = Given(LOCAL_MODEL, "the local model")
        return self._changed(found)

    def _endpoint(self, local: Callable[[], bool]) -> Given:
        if self.api_key:
            return Given(OPENAI, "because a key is set")
        if local():
            return Given(LOCAL, "because nothing else is set")
        raise NoEndpoint(HOW)

    @property
    def secrets(self) -> frozenset[str]:
        """Values that nobody may see: the endpoint's key, the shared store's password, what may be one in a target's
        address, and those that models such as ``model@url#NAME`` take from the environment."""
        models = (*self.fallback_models, self.aux_model)
        named = (os.environ.get(model.rpartition("#")[2], "") for model in models if "#" in model)
        written = (*self.notify.values(), *saved_addresses(self.home))
        told = (*written, *(value for name, value in os.environ.items() if name.startswith(TARGET)))
        parts = (part for address in told for part in Address(address).secrets)
        return frozenset({str(self.api_key), *Server(self.store_url).passwords, *named, *parts} - {""})

    def shown(self) -> tuple[Shown, ...]:
        """Every setting for a person to read, in the order of this class; of a key only that it is set."""
        return tuple(self._row(field) for field in dataclasses.fields(self) if field.name in RANGES)

    def _changed(self, found: Mapping[str, Given]) -> Self:
        values = {name: getattr(self, name) for name in RANGES}
        sources = dict(self.sources)
        if "first_byte_seconds" not in sources:
            values["first_byte_seconds"] = 0
        if sources.get("spec") == IMPLIED:
            del sources["spec"], values["spec"]
        values |= {name: _read(name, given) for name, given in found.items()}
        sources |= {name: given.where for name, given in found.items()}
        return type(self)(**_guarded(values, sources))

    def _row(self, field: dataclasses.Field[Any]) -> Shown:
        allowed = RANGES[field.name]
        value = getattr(self, field.name)
        computed = field.name in ("home", "first_byte_seconds")
        told = "default" if computed or value == field.default else "argument"
        source = self.sources.get(field.name, told)
        return Shown(field.name, said(value), source, said(field.default), allowed.allowed, allowed.about)


RANGES: dict[str, Range] = {f.name: f.metadata["range"] for f in dataclasses.fields(Settings) if f.metadata}


def _is_spec(found: Mapping[str, Given]) -> bool:
    return any(_read(name, found[name]) for name in ("spec", "replay") if name in found)


def _guarded(values: dict[str, Any], sources: dict[str, str]) -> dict[str, Any]:
    """`values` and `sources`, without OpenAI's key where the endpoint is another's: a key goes where it is meant to."""
    address, named = values.get("base_url", ""), sources.get("base_url")
    theirs = named in (None, OPENAI_NAMES["base_url"]) or address.startswith(OPENAI)
    if theirs or sources.get("api_key") != OPENAI_NAMES["api_key"]:
        return {**values, "sources": sources}
    rest = {name: where for name, where in sources.items() if name != "api_key"}
    return {**values, "api_key": Secret(), "sources": rest}


def _written(home: Given) -> dict[str, Given]:
    path = _read("home", home) / "kernel.toml"
    try:
        found = in_file(path)
    except Unreadable as error:
        raise SettingsError(str(error)) from None
    if "home" in found:
        raise SettingsError(f"home cannot be set in {path}, which lies in it. Set HERMES_HOME instead.")
    return found


def _read(name: str, given: Given) -> Any:
    place = "" if given.where in ("argument", "default") else f" ({given.where})"
    if name not in RANGES:
        close = difflib.get_close_matches(name, RANGES, 1)
        hint = f" Did you mean {close[0]}?" if close else " `%hermes config` lists them."
        raise SettingsError(f"There is no setting {brief(name, 60)}{place}.{hint}")
    try:
        return RANGES[name].read(given.raw)
    except (ValueError, TypeError, KeyError, OverflowError):
        hidden = name in ("api_key", "store_url", "mcp_servers", "notify") or "@" in str(given.raw)
        wrong = "that value" if hidden else brief(repr(given.raw), 60)
        raise SettingsError(f"{name} cannot be {wrong}{place}: it must be {RANGES[name].allowed}.") from None
