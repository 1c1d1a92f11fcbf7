"""What notebooks show of the names that are public: which are used in their code, told in their prose, seen in their outputs.

The names come from the code itself. Nothing is run: a notebook is read as it is stored.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

SHELL = "hermes-kernel"


@dataclass(frozen=True)
class Cell:
    """A cell as it is stored. Magics and shell lines are the calls that IPython makes of them."""

    source: str
    is_code: bool
    outputs: str = ""

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in its code, and in the code of a file that it writes."""
        if not self.is_code:
            return ()
        source = re.sub(r"\A%%writefile .*\.py\n", "", self.source)
        return tuple(ast.walk(ast.parse(TransformerManager().transform_cell(source))))

    @cached_property
    def calls(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Every call: the last part of what is called, and its arguments that are texts."""
        made = (node for node in self.nodes if isinstance(node, ast.Call))
        return tuple((_last(call.func), tuple(map(_text, call.args))) for call in made)

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts in its code."""
        constants = (node.value for node in self.nodes if isinstance(node, ast.Constant))
        return frozenset(value for value in constants if isinstance(value, str))

    @cached_property
    def words(self) -> str:
        """All there is to be read in it, with what a `shell(…)` of the notebook's own says to the command line."""
        told = (f"{SHELL} {' '.join(texts)}" for name, texts in self.calls if name == "shell")
        return re.sub(r"\S+ -m hermes_kernel\b", SHELL, "\n".join((self.source, self.outputs, *told)))

    def magics(self, kind: str) -> Iterator[str]:
        """What follows ``%hermes`` (`run_line_magic`) or ``%%hermes`` (`run_cell_magic`) on its line."""
        for name, texts in self.calls:
            if name == kind and texts[:1] == ("hermes",):
                yield texts[1] if len(texts) > 1 else ""
            if name == "hermes" and kind == "run_line_magic" and texts:
                yield texts[0]  # a notebook's own `hermes("…")`


def _last(node: ast.AST | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Await(value=value) | ast.Call(func=value):
            return _last(value)
    return ""


def _text(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or "…" for part in parts)
    return ""


def cells_of(notebook: Any) -> tuple[Cell, ...]:
    """The cells of a notebook as nbformat reads it."""
    return tuple(
        Cell(cell.source, cell.cell_type == "code", "\n".join(map(_said, cell.get("outputs", ()))))
        for cell in notebook.cells
    )


def _said(output: Any) -> str:
    return str(output.get("text", "") or output.get("evalue", "") or output.get("data", {}).get("text/plain", ""))


# --- which of them stand nowhere


def unused(names: Iterable[str], cells: Iterable[Cell]) -> list[str]:
    """Names that no code uses; to import one is not to use it."""
    used = {
        node.id if isinstance(node, ast.Name) else node.attr
        for cell in cells
        for node in cell.nodes
        if isinstance(node, ast.Name | ast.Attribute)
    }
    loaded = {texts for cell in cells for name, texts in cell.calls if name == "run_line_magic"}
    if ("load_ext", "hermes_kernel") in loaded:
        used.add("load_ipython_extension")
    return [name for name in names if name not in used]


def untouched(names: Iterable[str], cells: Iterable[Cell], of: str) -> list[str]:
    """Attributes that no code asks of an `of`: something whose name ends so, that ``--as`` has named, or that is ``_``."""
    of_cells = {line.split()[n + 1] for line in _lines(cells) for n, word in enumerate(line.split()) if word == "--as"}
    also = {"_", *of_cells} if of == "turn" else {"hermes"}
    seen = {
        node.attr
        for cell in cells
        for node in cell.nodes
        if isinstance(node, ast.Attribute) and ((owner := _last(node.value)).lower().endswith(of) or owner in also)
    }
    return [f"{of}.{name}" for name in names if name not in seen]


def _lines(cells: Iterable[Cell]) -> Iterator[str]:
    for cell in cells:
        yield from cell.magics("run_cell_magic")


def unasked(options: Iterable[str], cells: Iterable[Cell]) -> list[str]:
    """Options that stand above no ``%%hermes`` prompt."""
    written = {word.partition("=")[0] for line in _lines(cells) for word in line.split()}
    return [f"%%hermes {option}" for option in options if option not in written]


def uncommanded(commands: Iterable[str], cells: Iterable[Cell]) -> list[str]:
    """Commands that no ``%hermes`` gives."""
    given = {line.split()[0] for cell in cells for line in cell.magics("run_line_magic") if line.split()}
    return [f"%hermes {command}" for command in commands if command not in given]


def uncalled(tools: Iterable[str], cells: Iterable[Cell]) -> list[str]:
    """Tools that no code names and no output shows as called."""
    named = {text for cell in cells for text in cell.texts}
    shown = {name for cell in cells for name in re.findall(r"^\s*[✓✗] (\w+)", cell.outputs, re.MULTILINE)}
    return [f"the tool {tool}" for tool in tools if tool not in named | shown]


def untold(what: str, names: Iterable[str], cells: Iterable[Cell]) -> list[str]:
    """Values, such as outcomes and faults, that no code has as a text, no output shows and no prose quotes."""
    texts = {text for cell in cells for text in cell.texts}
    shown = {word for cell in cells for word in re.findall(r"\w+", cell.outputs)}
    quoted = _quoted(cells)
    return [f"the {what} {name}" for name in names if name not in texts | shown | quoted]


def unset(settings: Iterable[str], cells: Iterable[Cell]) -> list[str]:
    """Settings that are neither set in code nor told in prose."""
    code = "\n".join(cell.source for cell in cells if cell.is_code)
    environment = {name.lower() for name in re.findall(r"\bHERMES_(\w+)", "\n".join(cell.source for cell in cells))}
    magics = set(re.findall(r"HermesMagics\.(\w+)", code))
    arguments = {
        node.arg
        for cell in cells
        for call in cell.nodes
        if isinstance(call, ast.Call)
        and _last(call.func) in {"Agent", "configure", "with_", "load", "play", "Settings"}
        for node in call.keywords
    }
    told = environment | magics | arguments | _quoted(cells)
    return [f"the setting {name}" for name in settings if name not in told]


def _quoted(cells: Iterable[Cell]) -> set[str]:
    """What stands between backticks in prose, alone or with a value."""
    prose = "\n".join(cell.source for cell in cells if not cell.is_code)
    return {found for text in re.findall(r"`([^`\n]+)`", prose) for found in re.findall(r"^\w+", text)}


def unrun(commands: Iterable[tuple[str, ...]], cells: Iterable[Cell]) -> list[str]:
    """Commands of the shell, such as ``("sessions",)`` and ``("sessions", "delete")``, that nobody is shown."""
    said = [cell.words for cell in cells]
    return [f"{SHELL} {' '.join(path)}" for path in commands if not any(_runs(path, words) for words in said)]


def _runs(path: tuple[str, ...], words: str) -> bool:
    if not re.search(rf"{SHELL}(?: --json)? {path[0]}\b", words):
        return False
    verbs = (rf"(?:{before}(?: --json)? |`){verb}\b" for before, verb in pairwise(path))
    return all(re.search(verb, words) for verb in verbs)


def unopted(options: Iterable[tuple[str, tuple[str, ...]]], cells: Iterable[Cell]) -> list[str]:
    """Options of commands of the shell that do not stand where the command stands. Each has a name or two."""
    said = [cell.words for cell in cells]
    return [
        f"{SHELL} {command} {names[-1]}"
        for command, names in options
        if not any(_runs((command,), words) and any(_stands(name, words) for name in names) for words in said)
    ]


def _stands(option: str, words: str) -> bool:
    return re.search(rf"(?<![\w-]){option}(?![\w-])", words) is not None
