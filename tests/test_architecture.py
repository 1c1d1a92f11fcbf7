"""The shape of the code: who may know whom, what the rules must not touch, and how large a piece may grow.

The checker is a function of a folder, so the last tests show it a folder where an arrow points the wrong way.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Who may know whom: the longest prefix that fits a module decides. Arrows point inwards only.
INNER = ("hermes_kernel.core",)
BASE = (*INNER, "hermes_kernel.settings", "hermes_kernel.given", "hermes_kernel.ranges")
MIDDLE = (
    *BASE, "hermes_kernel.limits", "hermes_kernel.world", "hermes_kernel.prompt", "hermes_kernel.errors",
    "hermes_kernel.checks",
)  # fmt: skip
PARTS = (
    *MIDDLE, "hermes_kernel.session", "hermes_kernel.models", "hermes_kernel.equipment", "hermes_kernel.lineage",
    "hermes_kernel.playing", "hermes_kernel.resources",
)  # fmt: skip
WHOLE = (
    *MIDDLE, "hermes_kernel.session", "hermes_kernel.agent", "hermes_kernel.view", "hermes_kernel.doctor",
    "hermes_kernel.export", "hermes_kernel.looking", "hermes_kernel.delegating", "hermes_kernel.mapping",
    "hermes_kernel.learning", "hermes_kernel.scheduling",
)  # fmt: skip
ARROWS: dict[str, tuple[str, ...]] = {
    "hermes_kernel": WHOLE,
    "hermes_kernel.core": INNER,
    "hermes_kernel.ranges": (),
    "hermes_kernel.given": (),
    "hermes_kernel.settings": BASE,
    "hermes_kernel.limits": BASE,
    "hermes_kernel.prompt": BASE,
    "hermes_kernel.world": (*BASE, "hermes_kernel.world"),
    "hermes_kernel.errors": (*BASE, "hermes_kernel.world"),
    "hermes_kernel.checks": (*INNER, "hermes_kernel.errors"),
    "hermes_kernel.session": (*MIDDLE, "hermes_kernel.session"),
    "hermes_kernel.models": (*MIDDLE, "hermes_kernel.models"),
    "hermes_kernel.equipment": (*MIDDLE, "hermes_kernel.models", "hermes_kernel.equipment"),
    "hermes_kernel.lineage": (*MIDDLE, "hermes_kernel.session", "hermes_kernel.lineage"),
    "hermes_kernel.playing": PARTS,
    "hermes_kernel.resources": PARTS,
    "hermes_kernel.conversation": PARTS,
    "hermes_kernel.delegating": (*PARTS, "hermes_kernel.delegating"),
    "hermes_kernel.mapping": (*PARTS, "hermes_kernel.mapping"),
    "hermes_kernel.learning": (*PARTS, "hermes_kernel.learning"),
    "hermes_kernel.scheduling": (*PARTS, "hermes_kernel.cell", "hermes_kernel.view", "hermes_kernel.scheduling"),
    "hermes_kernel.agent": (
        *PARTS,
        "hermes_kernel.conversation",
        "hermes_kernel.delegating",
        "hermes_kernel.mapping",
        "hermes_kernel.learning",
        "hermes_kernel.scheduling",
        "hermes_kernel.parts",
        "hermes_kernel.agent",
    ),
    "hermes_kernel.parts": (
        *PARTS,
        "hermes_kernel.conversation",
        "hermes_kernel.delegating",
        "hermes_kernel.learning",
        "hermes_kernel.scheduling",
    ),
    "hermes_kernel.view": (*INNER, "hermes_kernel.view"),
    "hermes_kernel.export": (
        *INNER,
        "hermes_kernel.cell",
        "hermes_kernel.view",
        "hermes_kernel.world.store.records",
        "hermes_kernel.export",
    ),
    "hermes_kernel.looking": (*MIDDLE, "hermes_kernel.view", "hermes_kernel.looking"),
    "hermes_kernel.testing": (*BASE, "hermes_kernel.world", "hermes_kernel.testing"),
    "hermes_kernel.testing.factories": (*INNER, "hermes_kernel.agent", "hermes_kernel.world", "hermes_kernel.testing"),
    "hermes_kernel.doctor": (*MIDDLE, "hermes_kernel", "hermes_kernel.scheduling", "hermes_kernel.doctor"),
    "hermes_kernel.cell": (*INNER, "hermes_kernel.cell"),
    "hermes_kernel.kernel": (*WHOLE, "hermes_kernel", "hermes_kernel.cell", "hermes_kernel.kernel"),
    "hermes_kernel.cli": (*WHOLE, "hermes_kernel", "hermes_kernel.cli"),
    "hermes_kernel.__main__": ("hermes_kernel.cli",),
    "magics": (*WHOLE, "hermes_kernel", "magics"),
}

# What the rules may use of the standard library: values, text, arithmetic. Nothing that waits, asks or tells; and one
# library that computes, without more: the times of a cron line.
PURE = frozenset({
    "__future__", "ast", "base64", "bisect", "collections", "contextlib", "copy", "cronsim", "dataclasses", "datetime",
    "email.utils", "enum", "functools", "hashlib", "heapq", "html", "itertools", "json", "math", "operator", "re",
    "reprlib", "shlex", "string", "textwrap", "types", "typing", "unicodedata", "urllib.parse", "zoneinfo",
})  # fmt: skip

IMPURE_CALLS = frozenset({"open", "print", "input", "exec", "eval", "breakpoint", "__import__"})
CLOCKS = frozenset({"now", "today", "utcnow"})

FILE_LINES, FUNCTION_LINES, NESTING = 300, 40, 4
OUTSIDE = re.compile(r"/(?:root|Users|home/[a-z]\w+)/")


class Import(NamedTuple):
    """One module naming another."""

    path: Path
    line: int
    module: str
    target: str


def module_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources(root: Path) -> list[Path]:
    return sorted(path for name in ("hermes_kernel", "magics") for path in (root / name).rglob("*.py"))


def imports(path: Path, root: Path) -> Iterator[Import]:
    module = module_of(path, root)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                for name in names:
                    yield Import(path, node.lineno, module, name.name)
            case ast.ImportFrom(module=source, names=names, level=level):
                base = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                source = ".".join([*base, *([source] if source else [])])
                for name in names:
                    yield Import(path, node.lineno, module, _deepest(root, source, name.name))
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"), args=[first, *_]):
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield Import(path, node.lineno, module, first.value)


def _deepest(root: Path, source: str, name: str) -> str:
    """`from a import b` names the module a.b where there is one, else a."""
    inside = root.joinpath(*source.split("."), name)
    return f"{source}.{name}" if inside.with_suffix(".py").exists() or inside.is_dir() else source


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def allowed(arrow: Import) -> bool:
    if not (within(arrow.target, "hermes_kernel") or within(arrow.target, "magics")):
        return not within(arrow.module, "hermes_kernel.core") or arrow.target in PURE or _pure_parent(arrow.target)
    owner = max((prefix for prefix in ARROWS if within(arrow.module, prefix)), key=len)
    if arrow.module != "hermes_kernel" and owner == "hermes_kernel":
        return False  # a new module has to be given its place in ARROWS
    return any(
        arrow.target == known or (known != "hermes_kernel" and within(arrow.target, known)) for known in ARROWS[owner]
    )


def _pure_parent(target: str) -> bool:
    return target.partition(".")[0] in PURE


def wrong_arrows(root: Path) -> list[str]:
    found = (arrow for path in sources(root) for arrow in imports(path, root))
    return [
        f"{a.path.relative_to(root)}:{a.line}: {a.module} must not know {a.target}" for a in found if not allowed(a)
    ]


def impure_calls(root: Path) -> list[str]:
    found = []
    for path in sorted((root / "hermes_kernel" / "core").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        waiting = {inner for node in ast.walk(tree) if _is_play(node) for inner in ast.walk(node)}
        for node in set(ast.walk(tree)):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                    found.append(f"{path.relative_to(root)}:{node.lineno}: {name}()")
                case ast.Call(func=ast.Attribute(value=ast.Name(id="datetime" | "date"), attr=name)) if name in CLOCKS:
                    found.append(f"{path.relative_to(root)}:{node.lineno}: {name}()")
                case ast.AsyncFor() | ast.AsyncWith() | ast.Await() | ast.Global() if node not in waiting:
                    found.append(f"{path.relative_to(root)}:{node.lineno}: {type(node).__name__}")
    return found


def _is_play(node: ast.AST) -> bool:
    """`play` alone waits."""
    return isinstance(node, ast.AsyncFunctionDef) and node.name == "play"


def oversized(root: Path) -> list[str]:
    found = []
    for path in sources(root):
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(root)
        if len(text.splitlines()) > FILE_LINES:
            found.append(f"{where}: {len(text.splitlines())} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = _length(node)
                if length > FUNCTION_LINES:
                    found.append(f"{where}:{node.lineno}: {node.name} is {length} lines long")
    return found


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring, and without what is a table: the arms of a `match` over a union."""
    skipped = sum(_lines(part) for part in node.body if _is_text(part) or isinstance(part, ast.Match))
    return _lines(node) - skipped


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def undocumented(root: Path) -> list[str]:
    """Modules without a docstring of one to six lines."""
    found = []
    for path in sources(root):
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if not 1 <= len(doc.splitlines()) <= 6:
            found.append(f"{path.relative_to(root)}: {len(doc.splitlines())} lines of docstring")
    return found


def test_arrows_point_inwards_only():
    assert wrong_arrows(ROOT) == []


def test_the_core_neither_waits_nor_reads_nor_writes():
    assert impure_calls(ROOT) == []


def test_no_file_and_no_function_is_too_long_to_read():
    assert oversized(ROOT) == []


def test_every_module_opens_with_what_it_keeps_true():
    assert undocumented(ROOT) == []


def test_every_module_has_a_place_in_the_map():
    known = {module_of(path, ROOT) for path in sources(ROOT)}
    assert [m for m in known if not any(within(m, p) for p in ARROWS if p != "hermes_kernel" or m == p)] == []


def test_the_map_of_the_code_names_every_room():
    page = (ROOT / "docs/map-of-the-code.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b[a-z_]+(?:/|\.py)", page.split("```")[1]))
    house = ROOT / "hermes_kernel"
    rooms = {f"{head.parent.name}/" for place in (house, house / "world") for head in place.glob("*/__init__.py")}
    files = {path.name for path in house.glob("[a-z]*.py")}
    assert rooms | files <= named
    assert {name for name in named if name.endswith(".py")} == files


def test_the_map_of_the_code_names_no_file_that_is_gone():
    named = re.findall(r"[\w/]+\.py\b", (ROOT / "docs/map-of-the-code.md").read_text(encoding="utf-8"))
    there = [f"/{path.relative_to(ROOT).as_posix()}" for path in sources(ROOT)]
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in there)] == []


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout.decode()
    return [ROOT / name for name in listed.split("\0") if name] or [p for p in ROOT.rglob("*") if p.is_file()]


def test_nothing_in_the_project_needs_a_persons_folder():
    texts = [p for p in tracked() if p.suffix in {".py", ".md", ".toml", ".ipynb", ".json", ".sh", "", ".mjs", ".yml"}]
    here = Path(__file__).resolve()
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in texts
        if path.is_file() and path.resolve() != here
        for match in OUTSIDE.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


HEAVY = ("openai", "duckdb", "IPython", "ipywidgets", "pandas", "numpy", "matplotlib", "httpx", "nbclient", "ipykernel")


@pytest.mark.parametrize(
    "module", ["hermes_kernel", "magics", "hermes_kernel.settings", "hermes_kernel.cli", "hermes_kernel.session"]
)
def test_importing_loads_nothing_heavy(module: str):
    code = f"import {module}, sys, json; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    # The magics are IPython's guests; that it is loaded is their host's doing.
    assert loaded - ({"IPython"} if module == "magics" else set()) == set()


# What a first look needs none of: an event loop and its network, the store, the searching and scanning of texts.
NOT_YET = (
    "asyncio", "ssl", "socket", "http", "email", "sqlite3", "logging", "subprocess", "concurrent.futures", "ctypes",
    "importlib.metadata", "hermes_kernel.parts", "hermes_kernel.session", "hermes_kernel.world.store",
    "hermes_kernel.world.model", "hermes_kernel.world.tools.registry", "hermes_kernel.core.learning",
    "hermes_kernel.core.search", "hermes_kernel.core.events",
)  # fmt: skip


def test_an_agent_can_be_imported_and_a_tool_be_made_before_anything_is_loaded_that_plays_turns():
    code = (
        "import sys, json\nfrom hermes_kernel import Agent, HermesError, Result, Risk, Settings, SettingsError, ToolError, tool\n"
        "@tool\ndef price(sku: str, currency: str = 'EUR') -> float:\n    'Look up a price.'\n    return 1.0\n"
        f"print(json.dumps([m for m in {(*HEAVY, *NOT_YET)!r} if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_a_kernel_begins_without_what_plays_turns():
    ours = [each for each in NOT_YET if each.startswith("hermes_kernel.")]
    code = (
        "import hermes_kernel.kernel, hermes_kernel.world.kernels.printing, magics.hermes, sys, json\n"
        f"print(json.dumps([m for m in {('openai', 'duckdb', 'ipywidgets', *ours)!r} if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_importing_touches_no_file_no_network_and_no_thread(tmp_path: Path):
    code = (
        "import sys, threading\n"
        "told = []\n"
        "def hook(event, args):\n"
        "    if event == 'open' and isinstance(args[1], str) and set(args[1]) & set('wax+'): told.append((event, str(args[0])))\n"
        "    elif event.startswith(('socket.', 'subprocess.', 'os.mkdir', 'os.remove')): told.append((event, str(args)))\n"
        "sys.dont_write_bytecode = True\n"
        "sys.addaudithook(hook)\n"
        "import hermes_kernel, hermes_kernel.settings, hermes_kernel.session, hermes_kernel.cli\n"
        "assert not told, told\n"
        "assert threading.active_count() == 1\n"
    )
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("hermes_kernel/core/turn.py", "from hermes_kernel.world import perform"),
        ("hermes_kernel/core/turn.py", "import asyncio"),
        ("hermes_kernel/core/turn.py", "from ..world.ports import Clock"),
        ("hermes_kernel/core/turn.py", "def f():\n    from hermes_kernel.settings import Settings"),
        ("hermes_kernel/world/perform.py", "from hermes_kernel import session"),
        ("hermes_kernel/world/perform.py", "import hermes_kernel.view"),
        ("hermes_kernel/session.py", "import magics"),
        ("hermes_kernel/session.py", "from importlib import import_module\nimport_module('hermes_kernel.kernel')"),
        ("hermes_kernel/kernel.py", "from magics import live"),
        ("hermes_kernel/helpers.py", "import hermes_kernel.core.turn"),
    ],
)
def test_a_reversed_arrow_is_caught(tmp_path: Path, module: str, line: str):
    for name in ("core/turn", "world/ports", "world/perform", "session", "view", "kernel", "settings"):
        path = tmp_path / f"hermes_kernel/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('"""A module."""\n')
    assert wrong_arrows(tmp_path) == []
    (tmp_path / module).write_text(f'"""A module."""\n{line}\n')
    assert len(wrong_arrows(tmp_path)) == 1


@pytest.mark.parametrize(
    "line",
    ["print('x')", "open('x')", "from datetime import datetime\nNOW = datetime.now()", "async def f(g):\n    await g"],
)
def test_a_rule_that_reads_or_tells_is_caught(tmp_path: Path, line: str):
    path = tmp_path / "hermes_kernel/core/rule.py"
    path.parent.mkdir(parents=True)
    path.write_text(f"{line}\n")
    assert len(impure_calls(tmp_path)) == 1
