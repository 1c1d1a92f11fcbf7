"""What is tried with what. docs/compatibility.md says the same; `tests/test_compatibility.py` holds it to that."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")

LAWS = ("tests/laws",)
WORK = (
    "tests/contracts/test_agent.py", "tests/contracts/test_delegating.py", "tests/contracts/test_import.py",
    "tests/contracts/test_jobs.py", "tests/contracts/test_mapping.py", "tests/contracts/test_mapping_executors.py",
    "tests/contracts/test_mcp.py", "tests/contracts/test_model_wire.py", "tests/contracts/test_own_kernel.py",
    "tests/contracts/test_recording.py", "tests/contracts/test_runs_notebooks.py",
    "tests/contracts/test_skill_installing.py", "tests/contracts/test_tools_python.py",
    "tests/contracts/test_tools_running.py", "tests/faults/test_broken_streams.py", "tests/test_doctor.py",
)  # fmt: skip
STORE = (
    "tests/contracts/test_store.py", "tests/contracts/test_store_damage.py", "tests/contracts/test_store_migration.py",
    "tests/contracts/test_store_views.py", "tests/contracts/test_search_answers.py",
    "tests/contracts/test_search_index.py",
)  # fmt: skip
WIRE = (
    "tests/contracts/test_model_contract.py", "tests/contracts/test_model_wire.py",
    "tests/contracts/test_model_silences.py", "tests/faults/test_broken_streams.py", "tests/faults/test_refusals.py",
)  # fmt: skip
KERNEL = (
    "tests/kernel/test_comms.py", "tests/kernel/test_elsewhere.py", "tests/kernel/test_hermes_kernel.py",
    "tests/kernel/test_interrupts.py", "tests/kernel/test_questions.py", "tests/kernel/test_vscode.py",
)  # fmt: skip
PANELS = (
    "tests/kernel/test_comms.py", "tests/kernel/test_live_panel.py", "tests/kernel/test_panel_board.py",
    "tests/kernel/test_panel_usage.py", "tests/kernel/test_questions.py", "tests/kernel/test_without_widgets.py",
)  # fmt: skip
QUIET = ("tests/compatibility/quiet.py",)


class Combination(NamedTuple):
    """An environment, and the files of tests that are to pass in it."""

    name: str
    what: str
    """As the page says it."""
    tests: tuple[str, ...]
    python: str = ""
    """Its version. Empty: the interpreter of whoever asks."""
    beside: tuple[str, ...] = ()
    """What else is installed, or held at a version."""
    lowest: bool = False
    """Whether all that `pyproject.toml` names is the oldest that it allows."""


def lowest_of(package: str) -> str:
    """The oldest version that `pyproject.toml` allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in project["dependencies"]:
        name, _, bounds = requirement.partition(">=")
        if name == package:
            version: str = bounds.partition(",")[0]
            return version
    raise LookupError(f"{package} has no lower bound")


def _pythons() -> Iterator[Combination]:
    for version in PYTHONS:
        what = f"Python {version}, all else as new as there is"
        yield Combination(f"python-{version}", what, (*QUIET, *LAWS, *WORK, *STORE, *KERNEL), version)


def _oldest() -> Iterator[Combination]:
    everything = (*QUIET, *WORK, *STORE, *KERNEL, *PANELS)
    yield Combination("lowest", "each dependency as old as is allowed", everything, PYTHONS[0], lowest=True)
    for package, tests in (("ipykernel", KERNEL), ("ipywidgets", PANELS), ("duckdb", STORE), ("openai", WIRE)):
        version = lowest_of(package)
        held = f"{package}=={version}"
        yield Combination(f"{package}-{version}", f"{held}, all else new", tests, beside=(held,))


FRONT_ENDS = (
    Combination("lab", "JupyterLab in Chromium", ("tests/browser/test_turn.py",)),
    Combination("notebook", "Notebook 7 in Chromium", ("tests/compatibility/notebook.py",), beside=("notebook>=7",)),
    Combination("vscode", "what VS Code says to a kernel", ("tests/kernel/test_vscode.py",)),
    Combination(
        "console", "`jupyter console`, terminal IPython",
        ("tests/compatibility/console.py", "tests/kernel/test_elsewhere.py"), beside=("jupyter-console>=6.6", "pexpect"),
    ),
    Combination(
        "headless", "nbclient, nbconvert, papermill, nbval",
        ("tests/compatibility/headless.py", "tests/kernel/test_elsewhere.py"), beside=("papermill>=2.6", "pexpect"),
    ),
    Combination("script", "a script, `python` by hand, asyncio", ("tests/compatibility/script.py",), beside=("pexpect",)),
)  # fmt: skip
PACKAGING = (
    Combination("package", "the wheel alone: no extras, `uvx`, `pipx`, removed again", ("tests/compatibility/package.py",)),
    Combination("types", "mypy and pyright, strict, over a program that uses the wheel", ("tests/compatibility/types.py",)),
)  # fmt: skip
COMBINATIONS = (*_pythons(), *_oldest(), *FRONT_ENDS, *PACKAGING)


def table() -> str:
    """The combinations as docs/compatibility.md has them."""
    rows = [f"| `{each.name}` | {each.what} | {', '.join(_kinds(each.tests))} |" for each in COMBINATIONS]
    return "\n".join(["| `NAME` | what | tests |", "|---|---|---|", *rows])


def _kinds(tests: tuple[str, ...]) -> list[str]:
    """Where the tests are: folders, and the stories of this one by name."""
    named = (Path(test).stem if Path(test).parts[1] == "compatibility" else Path(test).parts[1] for test in tests)
    return sorted({name.removeprefix("test_").removesuffix(".py") for name in named})
