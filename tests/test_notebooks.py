"""The notebooks are a book: each can be read by itself and leads on, and together they show every public name."""

from __future__ import annotations

import argparse
import inspect
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import hermes_kernel
import hermes_kernel.testing
from hermes_kernel import Agent, Outcome, Turn
from hermes_kernel.cli import _parser
from hermes_kernel.cli.ask import _plain
from hermes_kernel.core.faults import Fault
from hermes_kernel.settings import RANGES
from hermes_kernel.testing import ScriptedModel
from hermes_kernel.world.store import MemoryLog
from magics.commands.every import COMMANDS
from magics.options import OPTIONS
from tests.notebooks import shown
from tests.notebooks.shown import Cell, cells_of

ROOT = Path(__file__).resolve().parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
NEXT = r"## Wh\w+ to read (next|on)\n"


# --- every public name


def public(kind: type) -> list[str]:
    """What a class does and knows, by name; a value's bare fields left out."""
    return [
        name
        for name in dir(kind)
        if not name.startswith("_") and not inspect.ismemberdescriptor(inspect.getattr_static(kind, name))
    ]


def told_of_a_turn() -> list[str]:
    """What the command line tells of a turn."""
    return list(_plain(Turn()))


@cache
def tools() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(ScriptedModel([]), home=folder, log=MemoryLog())
        names = agent.tools.names()
        agent.close()
    return list(names)


def below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser; of one with two names, the first."""
    many = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    found = {id(each): (name, each) for choices in many for name, each in reversed(choices.items())}
    return dict(reversed(found.values()))


def commands() -> Iterator[tuple[str, ...]]:
    for name, parser in below(_parser()).items():
        yield (name,)
        words = [word for action in parser._actions if action.dest == "action" for word in action.choices or ()]
        yield from ((name, verb) for verb in (*below(parser), *words))


def options() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The options of each command, its subcommands' among them. ``--json`` is everywhere, and told once."""
    for name, parser in below(_parser()).items():
        every = [action for each in (parser, *below(parser).values()) for action in each._actions]
        found = {tuple(action.option_strings) for action in every if action.option_strings}
        yield from ((name, names) for names in sorted(found) if "--help" not in names and "--json" not in names)


def not_shown(cells: tuple[Cell, ...]) -> list[str]:
    """Every public name of which nothing is to be seen in `cells`."""
    return [
        *shown.unused(hermes_kernel.__all__, cells),
        *shown.unused(hermes_kernel.testing.__all__, cells),
        *shown.untouched(public(Agent), cells, "agent"),
        *shown.untouched(dict.fromkeys([*public(Turn), *told_of_a_turn()]), cells, "turn"),
        *shown.unasked(OPTIONS, cells),
        *shown.uncommanded(COMMANDS, cells),
        *shown.uncalled(tools(), cells),
        *shown.untold("outcome", Outcome, cells),
        *shown.untold("fault", Fault, cells),
        *shown.unset(RANGES, cells),
        *shown.unrun(commands(), cells),
        *shown.unopted([*options(), ("sessions", ("--json",))], cells),
    ]


def read(path: Path) -> tuple[Cell, ...]:
    return cells_of(nbformat.read(path, as_version=4))


def test_every_public_name_is_shown_in_some_notebook():
    assert not_shown(tuple(cell for path in PATHS for cell in read(path))) == []


def of(*cells: object) -> tuple[Cell, ...]:
    return cells_of(new_notebook(cells=cells))


def code(source: str, output: str = "") -> object:
    return new_code_cell(source, outputs=[new_output("stream", text=output)] * bool(output))


def test_what_no_notebook_shows_is_named():
    missing = not_shown(of(code("from hermes_kernel import Agent, Turn\nfrom hermes_kernel.testing import stall")))
    assert set(hermes_kernel.__all__) | set(hermes_kernel.testing.__all__) <= set(missing)
    assert {"agent.stream", "agent.jobs", "turn.text", "turn.budget", "%%hermes --budget", "%hermes search"} <= set(
        missing
    )
    assert {"the tool python", "the outcome completed", "the fault rate_limit", "the setting vision"} <= set(missing)
    assert {"hermes-kernel tick", "hermes-kernel skills", "hermes-kernel schedule add"} <= set(missing)
    assert {"hermes-kernel curator --as-of", "hermes-kernel run --kernel", "hermes-kernel sessions --json"} <= set(
        missing
    )


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (code("a = Agent()"), "Agent"),
        (code("%load_ext hermes_kernel"), "load_ipython_extension"),
        (code("with Server(forever(say('x'))) as server:\n    print(await Agent().ask('y'))"), "agent.ask"),
        (code("my_agent.stream('x')"), "agent.stream"),
        (code("turn.text"), "turn.text"),
        (code("_.budget"), "turn.budget"),
        (code("%%hermes --plain --budget 12\nCount them."), "%%hermes --budget"),
        (code('await get_ipython().run_cell_magic("hermes", f"--map {x} --again failed", "Q")'), "%%hermes --again"),
        (code("found = %hermes search ducks"), "%hermes search"),
        (code('hermes(f"runs stop {run}")'), "%hermes runs"),
        (code("script = [call('python', {'code': '1'})]"), "the tool python"),
        (code("print(turn)", "✓ terminal  ls"), "the tool terminal"),
        (code("assert turn.outcome == 'completed'"), "the outcome completed"),
        (code("story()", "failed   rate_limit"), "the fault rate_limit"),
        (new_markdown_cell("Such a call ends as `disconnect`."), "the fault disconnect"),
        (code("%config HermesMagics.vision = 'off'"), "the setting vision"),
        (code("Agent(stale_seconds=1)"), "the setting stale_seconds"),
        (new_markdown_cell("Say `curator_days = 14`."), "the setting curator_days"),
        (code("os.environ['HERMES_CELLS'] = 'off'"), "the setting cells"),
        (code("!hermes-kernel tick --json"), "hermes-kernel tick"),
        (code("!{sys.executable} -m hermes_kernel sql 'SELECT 1'"), "hermes-kernel sql"),
        (code('shell("schedule", "run", name, "--wait")'), "hermes-kernel schedule run"),
        (new_markdown_cell("`hermes-kernel sessions` can `delete` one."), "hermes-kernel sessions delete"),
        (code('shell("curator", "run", "--as-of", day)'), "hermes-kernel curator --as-of"),
        (code("!hermes-kernel run report.ipynb -o done.ipynb"), "hermes-kernel run --output"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_that_is_shown_is_not_missed(cell, name):
    assert name in not_shown(of(new_markdown_cell("# Nothing")))
    assert name not in not_shown(of(cell))


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (code("from hermes_kernel.testing import stall"), "stall"),
        (code("print('stall')"), "stall"),
        (code("book.title"), "agent.title"),
        (code("%hermes sessions # and budget"), "%hermes budget"),
        (new_markdown_cell("The model has a home and the cells."), "the setting cells"),
        (new_markdown_cell("`hermes-kernel schedule` and the word remove"), "hermes-kernel schedule remove"),
        (code("!hermes-kernel runs"), "hermes-kernel run"),
        (code("!other --kernel k; hermes-kernel ask hi"), "hermes-kernel run --kernel"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_that_is_only_near_is_missed(cell, name):
    assert name in not_shown(of(cell))


# --- each is a page of the book


def amiss(name: str, cells: tuple[Cell, ...], readme: str) -> list[str]:
    """What a notebook called `name` lacks to be one of ours."""
    prose = [cell.source for cell in cells if not cell.is_code]
    first, last = cells[0].source if not cells[0].is_code else "", cells[-1].source if not cells[-1].is_code else ""
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", "\n".join(prose))
    lost = [link for link in links if "://" not in link and not (ROOT / "notebooks" / link).exists()]
    found = {
        "no title": not re.match(r"# \S", first),
        "no promise": not re.search(r"\bpromise", first),
        "no asserts": not any(re.search(r"^\s*assert ", cell.source, re.MULTILINE) for cell in cells if cell.is_code),
        "nothing to read next": not re.match(NEXT, last) or not re.search(r"\]\([^)]+\)", last),
        f"links that lead nowhere: {', '.join(lost)}": bool(lost),
        "not in README's list": f"notebooks/{name}" not in readme,
        "no number of its own": not re.match(r"\d\d_[a-z0-9_]+\.ipynb$", name),
    }
    return [what for what, is_so in found.items() if is_so]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_each_promises_asserts_and_leads_on(path):
    """The quickstart is copied to wherever somebody begins, where no link leads anywhere: it says in words what is next."""
    lacking = amiss(path.name, read(path), README)
    if path.name.startswith("00_"):
        assert re.findall(r"`(\d\d_\w+\.ipynb)`", read(path)[-1].source)
        lacking = [each for each in lacking if each not in {"no promise", "nothing to read next"}]
    assert lacking == []


def test_no_two_have_the_same_number():
    numbers = [path.name[:2] for path in PATHS]
    assert numbers == [f"{n:02}" for n in range(len(numbers))]


def test_what_a_notebook_lacks_is_named():
    bare = of(code("print('hello')"), new_markdown_cell("See [nothing](nowhere.ipynb)."))
    assert amiss("mine.ipynb", bare, "") == [
        "no title", "no promise", "no asserts", "nothing to read next", "links that lead nowhere: nowhere.ipynb",
        "not in README's list", "no number of its own",
    ]  # fmt: skip


def test_a_notebook_that_has_everything_lacks_nothing():
    whole = of(
        new_markdown_cell("# Ducks\n\nThe promise: it counts."),
        code("assert 1 + 1 == 2"),
        new_markdown_cell("## What to read next\n\n[Sessions](09_sessions.ipynb), and [a page](https://example.org)."),
    )
    assert amiss("09_ducks.ipynb", whole, "see notebooks/09_ducks.ipynb") == []
