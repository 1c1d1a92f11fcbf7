"""Why a command did not do what it was asked: each carries the one or two lines that a person reads."""

from __future__ import annotations

IN_A_SHELL = {
    "%hermes doctor": "hermes-kernel doctor",
    "`%hermes record on`": "`--record`",
    "with `%hermes replay off`": "without `--replay`",
}


class Failure(Exception):
    """The work was tried and failed: exit code 1."""


class Misuse(Exception):
    """It was asked for wrongly and nothing was tried: exit code 2."""


def in_a_shell(reason: str) -> str:
    """What was written for a notebook, in a shell's words."""
    for there, here in IN_A_SHELL.items():
        reason = reason.replace(there, here)
    return reason
