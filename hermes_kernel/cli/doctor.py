"""``hermes-kernel doctor``: the findings, printed; exit code 1 when one of them is a problem."""

from __future__ import annotations

import argparse
import dataclasses
import json

from hermes_kernel.settings import Settings


def doctor(options: argparse.Namespace) -> int:
    """Print what was looked at and what to do next.

    Raises:
        SettingsError: the settings themselves cannot be read.
    """
    from hermes_kernel.doctor import State, examine, report

    findings = examine(Settings.load())
    print(json.dumps([dataclasses.asdict(each) for each in findings], indent=2) if options.json else report(findings))
    return int(any(each.state is State.PROBLEM for each in findings))
