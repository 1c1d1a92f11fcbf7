"""Code on pages, run as a reader would type it. ``# → value`` behind an expression says what it gives, and has to be so."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
GIVES = re.compile(r"#\s*→\s*(?P<value>.+?)\s*$")


def blocks(page: str, language: str) -> list[str]:
    """The code of one language on a page of the documentation, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


async def run(code: str, namespace: dict[str, Any]) -> int:
    """Run a block in `namespace`, awaiting what stands at its top; how many values it says and gives."""
    held = 0
    for statement in ast.parse(code).body:
        value = await _value(statement, namespace)
        line = code.splitlines()[(statement.end_lineno or 1) - 1]
        if found := GIVES.search(line):
            assert repr(value) == found["value"], line
            held += 1
    return held


async def _value(statement: ast.stmt, namespace: dict[str, Any]) -> Any:
    whole = ast.Expression(statement.value) if isinstance(statement, ast.Expr) else ast.Module([statement], [])
    kind = "eval" if isinstance(statement, ast.Expr) else "exec"
    made = compile(whole, "<page>", kind, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    value = eval(made, namespace)
    return await value if made.co_flags & inspect.CO_COROUTINE else value
