"""Every block of Python on the page about tools runs, in order, and gives what it says; its table of hints is taken."""

from __future__ import annotations

import ast
import re

import pytest

from hermes_kernel import tool
from hermes_kernel.world.tools.results import IMAGE_BYTES, ITEMS
from hermes_kernel.world.tools.tool import DESCRIPTION_CHARS, tool_of
from tests.examples import DOCS, blocks, run

PAGE = (DOCS / "tools.md").read_text(encoding="utf-8")
HINTS = """
import decimal, enum, pathlib, typing, uuid
from datetime import date, datetime, time
from typing import Annotated, Any, Literal
Path, UUID, Decimal = pathlib.Path, uuid.UUID, decimal.Decimal
"""


async def test_every_block_runs_and_gives_what_it_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_LEARNING", "off")
    monkeypatch.delenv("BANK_KEY", raising=False)
    namespace: dict[str, object] = {}
    for block in blocks("tools.md", "python"):
        assert await run(block, namespace) == block.count("# →"), block


def test_every_hint_of_the_table_is_one():
    rows = re.search(r"\| hint \|.*?\n\n", PAGE, re.DOTALL)
    assert rows
    names: dict[str, object] = {}
    exec(HINTS, names)
    written = [
        hint.replace(r"\|", "|")
        for line in rows[0].splitlines()[2:]
        for hint in re.findall(r"`((?:\\\||[^`|])+)`", line.split(" | ")[0])
    ]
    hints = [hint for hint in written if "." not in hint and hint not in ("Enum", "TypedDict", "NamedTuple")]
    assert len(hints) > 12
    for hint in hints:
        function = eval("lambda x: x", names)
        function.__annotations__ = {"x": eval(hint, names)}
        function.__name__ = "tried"
        assert tool_of(function).parameters


def test_numbers_on_the_page_are_those_of_the_code():
    assert DESCRIPTION_CHARS == 4_000
    assert ITEMS == 1_000
    assert IMAGE_BYTES == {"on": 4_000_000, "auto": 400_000, "off": 0}


@pytest.mark.parametrize("refused", ["*args", "**kwargs"])
def test_what_has_no_form_is_refused_as_the_page_says(refused):
    names: dict[str, object] = {}
    exec(compile(ast.parse(f"def odd({refused}): ..."), "<page>", "exec"), names)
    with pytest.raises(TypeError, match="name each"):
        tool(names["odd"])
