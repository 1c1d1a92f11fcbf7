"""Which Python code needs a person's word: commands it runs, judged as shell where they are written out, and folders it
deletes. A guard against accidents, not a sandbox: code that means to hide what it does gets past it."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator

from hermes_kernel.core.text import brief
from hermes_kernel.world.tools.danger import shell_risk
from hermes_kernel.world.tools.risk import Risk, together

RUNNERS = {
    "os": {
        "system",
        "popen",
        *(f"{does}{how}" for does in ("exec", "spawn") for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        "posix_spawn",
        "posix_spawnp",
        "fork",
        "forkpty",
    },
    "subprocess": {"run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"},
    "pty": {"spawn"},
    "get_ipython": {"system", "getoutput", "system_raw", "system_piped"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}
APART = re.compile("exec|spawn|posix_spawn|fork")  # functions that are told the program apart from its words
MAGICS = {("get_ipython", name) for name in ("run_cell_magic", "run_line_magic", "magic", "run_cell", "ex", "ev")}
SWAYED = re.compile(
    r"HERMES_(?:APPROVALS|SCHEDULE_WRITES|RUN)\b|HermesMagics\.\w+\s*=|\bapprovals[\"']?\s*[=:,]\s*[\"']allow"
)
HIDDEN = "?"
DELETERS = {("shutil", "rmtree"), ("os", "removedirs"), ("shutil", "move")}
SHELL_LINE = re.compile(
    r"(?m)^([^\S\n]*+)(?:[\w,][\w, ]*+(?:(?:\.\w++|\[[^]=\n]*+\])[^\S\n]*+)*+=[^\S\n]*+|%time(?:it)?[^\S\n]++)?"
    r"(?:!{1,2}|%(?:sx|system)[^\S\n]++)((?:\\\n|.)++)"
)
WRAPPED = re.compile(r"(?m)\A\s*(?:%%[^\n]*\n\s*)+|^([^\S\n]*+)%time(?:it)?[^\S\n]++")
SHELL_CELL = re.compile(r"\A\s*(?:%%[^\n]*\n\s*)*?%%(?:bash|sh|script|system|sx|!)[^\n]*\n(.*)\Z", re.DOTALL)
SPOKEN = re.compile(r"\b(?:os\.(?:system|popen|exec\w+|spawn\w+)|subprocess\.\w+|shutil\.rmtree|pty\.spawn)\b")


def python_risk(code: str) -> Risk | None:
    """What a person is asked about in Python code: commands it runs (judged as shell where they are written out), whole
    folders it deletes, and names that are put together to hide either. A guard against accidents, not a sandbox."""
    cell = SHELL_CELL.match(code)
    if cell:
        return shell_risk(cell[1])
    lines = (shell_risk(found[2]) for found in SHELL_LINE.finditer(code))
    return together((*lines, *_own(code), *_python(WRAPPED.sub(r"\1", SHELL_LINE.sub(r"\1pass", code)))))


def _own(code: str) -> Iterator[Risk]:
    if swayed := SWAYED.search(code):
        yield Risk("python:own-settings", f"it sets what an agent may do without asking ({brief(swayed[0], 80)})")


def _python(code: str) -> Iterator[Risk | None]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if spoken := SPOKEN.search(code):
            yield Risk("python:command", f"it runs commands or deletes folders ({spoken[0]})")
        return
    aliases = _aliases(tree)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield _call_risk(node, aliases)
        elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in called:
            yield _handed_on(node, aliases)


def _handed_on(node: ast.Name | ast.Attribute, aliases: dict[str, str]) -> Risk | None:
    """A function that runs commands, under another name or as an argument: what it is called with is not seen."""
    module, _, name = _dotted(node, aliases).rpartition(".")
    if isinstance(node.ctx, ast.Load) and (name in RUNNERS.get(module, ()) or (module, name) in DELETERS):
        return Risk("python:command", f"it hands on {module}.{name}")
    return None


def _aliases(tree: ast.AST) -> dict[str, str]:
    """Local name to dotted origin, for every import wherever it stands; ``import os.path`` binds ``os``."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            plain = {name.name.split(".")[0] for name in node.names if not name.asname}
            found |= {top: top for top in plain} | {name.asname: name.name for name in node.names if name.asname}
        elif isinstance(node, ast.ImportFrom):
            names = [(name.asname or name.name, name.name) for name in node.names]
            if names == [("*", "*")]:
                names = [(name, name) for name in _watched(node.module or "")]
            found.update({here: f"{node.module}.{name}" for here, name in names})
    return found


def _watched(module: str) -> set[str]:
    """The names of a module whose calls are looked at."""
    return RUNNERS.get(module, set()) | {name for owner, name in DELETERS if owner == module}


def _call_risk(call: ast.Call, aliases: dict[str, str]) -> Risk | None:
    module, _, name = _dotted(call.func, aliases).rpartition(".")
    if (module, name) in DELETERS:
        wide = _forbidden(f"rm -r {shlex.quote(_written(call) or '')}") if name != "move" else None
        return wide or Risk("python:delete", f"it calls {module}.{name}")
    if name in ("eval", "exec") and module in ("", "builtins") and (text := _written(call)):
        return together(_python(text))
    if name == HIDDEN and (module in RUNNERS or module == "shutil"):
        return Risk("python:command", f"it puts together which function of {module} it calls")
    if name in RUNNERS.get(module, ()):
        return _command_risk(call, module, name)
    if (module, name) in MAGICS:
        return Risk("python:command", f"it calls {name}, which may run commands")
    return None


def _command_risk(call: ast.Call, module: str, name: str) -> Risk | None:
    written = _joined(call.args) if name == "create_subprocess_exec" else _written(call)
    if written is None or APART.match(name):
        return Risk("python:command", f"it calls {module}.{name}")
    return shell_risk(written)


def _forbidden(command: str) -> Risk | None:
    risk = shell_risk(command)
    return risk if risk and risk.forbidden else None


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return aliases.get(name, name)
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value, aliases)}.{name}"
        case ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Call(func=ast.Name(id="get_ipython")):
            return "get_ipython"
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            return f"{_dotted(owner, aliases)}.{name}"
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, *_]):
            return f"{_dotted(owner, aliases)}.{HIDDEN}"
    return ""


def _written(call: ast.Call) -> str | None:
    """The command where it is written out in the call, or None."""
    match call.args[0] if call.args else None:
        case ast.Constant(value=str(text)):
            return text
        case ast.List(elts=words) | ast.Tuple(elts=words):
            return _joined(words)
    return None


def _joined(words: list[ast.expr]) -> str | None:
    """The command of these words where all of them are written out, or None."""
    said = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    return shlex.join(said) if len(said) == len(words) else None
