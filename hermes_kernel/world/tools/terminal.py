"""`terminal`: one shell command, in its own process group, without the keys this process knows."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from hermes_kernel.core.redact import SHORTEST
from hermes_kernel.world.run import this_run
from hermes_kernel.world.tools.danger_home import shell_risk_at
from hermes_kernel.world.tools.places import located, said
from hermes_kernel.world.tools.processes import Ended, run_process
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool, built_in

SECRET = re.compile(
    r"(?i)key|token|secret|passw|passphrase|credential|cookie|private|_auth$|^auth|dsn$|connection_string|database_url"
)
HARMLESS = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY", "GPG_AGENT_INFO", "KEYMAP", "TOKENIZERS_PARALLELISM"})
CALM = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
    "DEBIAN_FRONTEND": "noninteractive",
}
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# Tried where a line begins only: at each character of a long line it would take the square of its length.
OVERWRITTEN = re.compile(r"(?<![^\n\r])[^\n\r]*+\r(?!\n)(?=[^\n])")
LONGEST = 7 * 86_400.0


def make_terminal(
    folder: Callable[[], Path], home: Path, seconds: float, secrets: Callable[[], Collection[str]]
) -> Tool:
    """The tool for commands in `folder`, each with a deadline of `seconds` unless it names its own. No variable whose
    name or value is a secret (``secrets``: the values known to be) is passed on. A write to the agent's own `home` is a
    risk."""
    limit = seconds

    async def terminal(command: str, seconds: float = limit, cwd: str = ".") -> Result:
        """Run a shell command (bash) and return its output and exit code. No input is possible: pass -y or the like.
        Each command starts in the working folder. For servers use `cmd > log 2>&1 &`. Prefer python for data.

        Args:
            command: The command line.
            seconds: Its deadline; then it is killed.
            cwd: Folder to run it in.
        """
        at = located(cwd, folder())
        if not at.is_dir():
            raise ToolError(f"{cwd}: there is no such folder.")
        shell = shutil.which("bash") or "/bin/sh"
        deadline = min(max(seconds, 0.05), LONGEST)
        try:
            ended = await run_process(
                [shell, "-c", command], cwd=at, env=environment(os.environ, secrets()), seconds=deadline
            )
        except ValueError as error:
            raise ToolError(f"The command cannot be run: {error}.") from error
        except OSError as error:
            raise said(error, "The command could not be started") from error
        return told(ended, deadline)

    def risk(arguments: Mapping[str, Any]) -> Risk | None:
        return shell_risk_at(arguments["command"], folder() / str(arguments.get("cwd", ".")), home)

    return built_in(terminal, seconds=LONGEST + 60, dangerous=risk)


def told(ended: Ended, seconds: float) -> Result:
    """A finished command in words."""
    output = clean(ended.output).rstrip("\n")
    if ended.code is None:
        end = f"[killed at its deadline of {seconds:g} s, with all it had started]"
        return Result(f"{output}\n{end}".lstrip(), ok=False)
    notes = [f"[exit code {ended.code}]" if ended.code >= 0 else f"[ended by signal {-ended.code}]"]
    if ended.held:
        notes.append("[something it started in the background is still running]")
    return Result("\n".join([output, *notes] if output else notes), ok=ended.code == 0)


def environment(present: Mapping[str, str], secrets: Collection[str]) -> dict[str, str]:
    """`present` without secrets and without what only this kernel needs. A value that holds a secret goes with it; one
    that only holds a word which serves as a key (``local``, of ``/usr/local/bin``) stays."""
    long = [secret for secret in secrets if len(secret) >= SHORTEST]
    kept = {
        name: value
        for name, value in present.items()
        if not _is_secret(name) and value not in secrets and not any(secret in value for secret in long)
    }
    if kept.get("MPLBACKEND", "").startswith("module://"):
        del kept["MPLBACKEND"]
    return {**kept, **CALM}


def secret_values(environ: Mapping[str, str]) -> frozenset[str]:
    """The values of variables whose names say that they are secret."""
    return frozenset(value for name, value in environ.items() if _is_secret(name))


def run_secrets() -> frozenset[str]:
    """In the run of a job, which nobody watches and others read, what is secret in the environment; else nothing: a
    person at work may want to see what is theirs."""
    return secret_values(os.environ) if this_run() else frozenset()


def _is_secret(name: str) -> bool:
    return name not in HARMLESS and bool(SECRET.search(name))


def clean(text: str) -> str:
    """Terminal output as text: no colours, and of a progress bar its last state."""
    return OVERWRITTEN.sub("", ANSI.sub("", text)).replace("\r\n", "\n")
