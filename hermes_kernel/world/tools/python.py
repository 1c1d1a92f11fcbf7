"""`python`: code in the notebook's own namespace, on the thread of the turn's loop, shown in the current cell.

It never counts as a cell: no In, no Out, no history. While it runs plainly it is ended by an exception raised in it
(see `inside_user_code`), while it awaits by cancelling its task. C code that keeps the interpreter ends when it ends.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import itertools
import linecache
import re
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import CodeType
from typing import Any

from hermes_kernel.core.text import brief, scrub
from hermes_kernel.world.tools.capture import Seen, Tap, tapped, watching
from hermes_kernel.world.tools.danger_python import python_risk
from hermes_kernel.world.tools.overdue import Overdue, deadline
from hermes_kernel.world.tools.results import CODE, Result, is_table, place, table
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.terminal import clean
from hermes_kernel.world.tools.tool import Tool, built_in
from hermes_kernel.world.tools.usercode import await_user, call_user, inside_user_code

__all__ = ["inside_user_code", "make_python"]

FRAMES = 4
INTERRUPTED = "KeyboardInterrupt: the code was interrupted"
FENCED = re.compile(r"\s*```(?:python|py|ipython)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL)  # as models write code
_numbers = itertools.count(1)


def make_python(namespace: dict[str, Any], shell: Any, seconds: float, vision: str) -> Tool:
    """The tool for code in `namespace`; `shell` is IPython's, or None, and then its own namespace is used."""
    names = namespace if shell is None else shell.user_ns
    names.setdefault("__name__", "__main__")

    async def python(code: str) -> Result:
        """Run Python in the notebook's own namespace: variables of the person and of earlier calls are there and stay.
        Prints, figures and the last expression's value are shown in the cell and returned. Top-level await, %magics and
        !commands work in a notebook. Prefer this for data, computing and plots.

        Args:
            code: The code to run.
        """
        with watching(vision, getattr(shell, "display_pub", None)) as seen, _trapped(shell), deadline(seconds):
            problem = await _guarded(lambda file: _run(code, names, file, shell, seen))
            unseen = "" if problem.endswith(INTERRUPTED) else await _guarded(lambda _: _figures(seen))
        text = (
            "\n".join(part for part in (clean(seen.text()), problem, unseen) if part)
            or "Done. Nothing was printed: print(...) a value to see it."
        )
        return Result(scrub(CODE.sub("", text)), ok=not problem and not unseen, images=tuple(seen.images))

    def risk(arguments: Mapping[str, Any]) -> Risk | None:
        return python_risk(arguments["code"])

    return built_in(python, exclusive=True, dangerous=risk)


async def _guarded(work: Callable[[str], Awaitable[None]]) -> str:
    """Do `work`, which is told the file name its code shall have; what went wrong, or ``""``."""
    filename = f"<python tool {next(_numbers)}>"
    try:
        await work(filename)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return "CancelledError: the code cancelled itself"
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the person's or the model's code raises is its result
        return explained(error, filename)
    return ""


async def _run(code: str, names: dict[str, Any], filename: str, shell: Any, seen: Seen) -> None:
    body, last = call_user(lambda: _compiled(code, filename, shell))
    await _execute(body, names)
    if last is not None:
        value = await _execute(last, names)
        if not code.rstrip().endswith(";"):
            call_user(lambda: _show(value, names, shell, seen))


def _compiled(code: str, filename: str, shell: Any) -> tuple[CodeType, CodeType | None]:
    """The statements, and the last expression apart when there is one."""
    fenced = FENCED.fullmatch(code)
    code = fenced[1] if fenced else code
    source = shell.transform_cell(code) if shell is not None else code
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    tree = ast.parse(source, filename)
    tree = shell.transform_ast(tree) if shell is not None else tree
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    flags = {"flags": ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, "dont_inherit": True}
    body = compile(tree, filename, "exec", **flags)  # type: ignore[call-overload]
    value = compile(ast.Expression(last.value), filename, "eval", **flags) if isinstance(last, ast.Expr) else None  # type: ignore[call-overload]
    return body, value


async def _execute(code: CodeType, names: dict[str, Any]) -> Any:
    value = call_user(lambda: eval(code, names))  # noqa: S307 - running code is what this tool is for
    return await await_user(value) if code.co_flags & inspect.CO_COROUTINE else value


def _show(value: Any, names: dict[str, Any], shell: Any, seen: Seen) -> None:
    if value is None:
        return
    if shell is None:
        names["_"] = value
        seen.show({"text/plain": table(value) if is_table(value) else repr(value)})
        return
    bundle, metadata = shell.display_formatter.format(value)
    if bundle:
        shell.display_pub.publish(bundle, metadata)


async def _figures(seen: Seen) -> None:
    """Show the figures that were drawn, as the end of a cell does; outside a notebook, say that they are open."""
    inline = sys.modules.get("matplotlib_inline.backend_inline")
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return
    if inline is not None and "inline" in str(pyplot.get_backend()):
        call_user(inline.flush_figures)
    else:
        seen.write(f"\n[{len(pyplot.get_fignums())} figure(s) open and not shown; save one with plt.savefig]\n")


@contextlib.contextmanager
def _trapped(shell: Any) -> Iterator[None]:
    """IPython's builtins in place, and ``exit()`` ends the code and not the kernel."""
    if shell is None:
        yield
        return
    leaving = tapped(shell, "ask_exit", _NoExit) if hasattr(shell, "ask_exit") else contextlib.nullcontext()
    with shell.builtin_trap, shell.display_trap, leaving:
        try:
            yield
        finally:
            _keep_upright(shell)


def _keep_upright(shell: Any) -> None:
    """IPython's own names, where code deleted or rebound them: without these no magic runs and no prompt."""
    names = shell.user_ns
    names.setdefault("__name__", "__main__")
    if not (callable(names.get("get_ipython")) and isinstance(names.get("_oh"), dict)):
        shell.init_user_ns()


class _NoExit(Tap):
    def __call__(self) -> None:
        raise SystemExit("the kernel stays; only this code was ended")


def explained(error: BaseException, filename: str) -> str:
    """A short traceback without colours: the last frames from the code's own first one on, and what was raised."""
    if isinstance(error.__cause__, StopIteration):
        error = error.__cause__  # a coroutine, such as the one that runs the code, cannot raise it as it is
    if isinstance(error, SyntaxError) and error.filename == filename:
        return "".join(traceback.format_exception_only(error)).rstrip()
    frames = list(itertools.dropwhile(lambda f: f.filename != filename, traceback.extract_tb(error.__traceback__)))
    own = [at for at, frame in enumerate(frames) if frame.filename == filename]
    kept = [frames[at] for at in sorted({*own[-FRAMES:], *range(len(frames))[-FRAMES:]})]
    lines = [
        f"  {place(frame.filename)}:{frame.lineno} in {frame.name}: {brief(frame.line or '', 160)}" for frame in kept
    ]
    words = clean("".join(traceback.format_exception_only(error))).rstrip()
    if isinstance(error, KeyboardInterrupt):
        words = INTERRUPTED
    if isinstance(error, Overdue):
        words = f"Overdue: {error}"
    return "\n".join(["Traceback (innermost last):", *lines, words] if lines else [words])
