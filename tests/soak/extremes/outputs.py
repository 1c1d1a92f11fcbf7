"""Tools that answer with far more than a model can read: the turn ends well, and what is kept of it is bounded."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hermes_kernel import tool
from hermes_kernel.testing import Step, call, calls, say
from tests.faults.played import Played, play

MUCH = 100_000_000
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10"
KEPT = 60_000  # characters of a result: `tool_result_chars`, and some words


def played(home: Path, *steps: Step, tools: tuple[Any, ...] = (), prompt: str = "Go.", **settings: Any) -> Played:
    """A turn in which the model asks so, all laws held; no result is longer than a model is to read."""
    settings = {"approvals": "allow", "tool_seconds": 60, "learning": False} | settings
    got = asyncio.run(play(home, [*steps, say("Done.")], prompt, tools=tools, **settings))
    assert got.text.endswith("Done."), got.turn.reason
    for result in got.results:
        assert len(result) <= KEPT, f"a result of {len(result):,} characters"
    return got


def answered(home: Path, *steps: Step, **how: Any) -> str:
    """What the model was told, from both ends."""
    text = played(home, *steps, **how).results[-1]
    return f"{len(text):,} characters: {text[:60]!r} … {text[-90:]!r}"


def python(code: str) -> Callable[[Path], str]:
    return lambda home: answered(home, call("python", {"code": code}))


def terminal(command: str) -> Callable[[Path], str]:
    return lambda home: answered(home, call("terminal", {"command": command}))


def returning(make: Callable[[], Any]) -> Callable[[Path], str]:
    """A tool of one's own that returns what is made."""

    @tool
    def much() -> Any:
        """Much."""
        return make()

    return lambda home: answered(home, call("much"), tools=(much,))


def reading(write: Callable[[Any], Any], start: int = 1) -> Callable[[Path], str]:
    """`read_file` of a file that is written so."""

    def case(home: Path) -> str:
        path = home / "much.txt"
        with path.open("wb") as file:
            write(file)
        return answered(home, call("read_file", {"path": str(path), "start": start}))

    return case


def _lines(file: Any) -> None:
    for _ in range(100):
        file.write(b"0123456 89 some words in it\n" * 36_000)


def searching(home: Path) -> str:
    place = home / "many"
    for n in range(100):
        (place / f"folder{n}").mkdir(parents=True)
        for m in range(100):
            (place / f"folder{n}" / f"file{m}.txt").write_text("some herons here\n" * 10)
    return answered(home, call("search_files", {"pattern": "herons", "path": str(place)}))


def thousand(home: Path) -> str:
    @tool
    def count(n: int) -> str:
        """Count."""
        return f"number {n}"

    got = played(home, calls([("count", {"n": n}) for n in range(1000)]), tools=(count,))
    assert got.results == [f"number {n}" for n in range(1000)]
    return "all in order"


def thousand_kinds(home: Path) -> str:
    asked = [("python", {"code": f"{n}"}) if n % 2 else ("terminal", {"command": f"echo {n}"}) for n in range(200)]
    got = played(home, calls(asked))
    assert all(str(n) in result for n, result in enumerate(got.results))
    return "all in order"


def _endless() -> Any:
    n = 0
    while True:
        yield (n := n + 1)


async def _endless_async() -> Any:
    while True:
        yield "x" * 1000


def endless_async(home: Path) -> str:
    @tool
    async def much() -> Any:
        """Much."""
        return _endless_async()

    return answered(home, call("much"), tools=(much,))


def barren(home: Path) -> str:
    """A generator that never yields ends at the tool's deadline."""

    @tool
    def much() -> Any:
        """Much."""

        def never() -> Any:
            while True:
                if not MUCH:
                    yield 1

        return never()

    return answered(home, call("much"), tools=(much,), tool_seconds=1)


def _deep() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def _around() -> Any:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


class _Bottomless:
    def __repr__(self) -> str:
        return repr(self)


def prompt(home: Path) -> str:
    got = played(home, prompt="herons " * 1_500_000)
    return f"{got.requests[0].size:,} bytes were sent"


def mcp(home: Path) -> str:
    server = Path(__file__).parents[2] / "contracts" / "mcp_servers" / "own.py"
    servers = {"own": {"command": sys.executable, "args": [str(server)], "trust": True}}
    return answered(home, call("mcp_own_huge"), mcp_servers=servers)


CASES: dict[str, Callable[[Path], str]] = {
    "python-print": python(f"print('x' * {MUCH})"),
    "python-prints": python(f"for _ in range({MUCH // 1000}): print('y' * 999)"),
    "python-value": python(f"'x' * {MUCH}"),
    "python-list": python(f"list(range({MUCH // 8}))"),
    "python-bytes": python(f"bytes({MUCH})"),
    "python-error": python(f"raise ValueError('x' * {MUCH})"),
    "python-html": python(f"from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>' * {MUCH // 8}))"),
    "python-recursion": python("class A:\n    def __repr__(self): return repr(self)\nA()"),
    "python-deep": python("value = []\nfor _ in range(100_000): value = [value]\nvalue"),
    "terminal-line": terminal(f"head -c {MUCH} /dev/zero | tr '\\0' x"),
    "terminal-lines": terminal(f"yes herons | head -c {MUCH}"),
    "terminal-binary": terminal(f"head -c {MUCH} /dev/urandom"),
    "terminal-returns": terminal(f"yes 'progress 50 %' | tr '\\n' '\\r' | head -c {MUCH}"),
    "tool-text": returning(lambda: "x" * MUCH),
    "tool-lines": returning(lambda: "some words\n" * (MUCH // 11)),
    "tool-wide": returning(lambda: "ж€𝄞" * (MUCH // 9)),
    "tool-bytes": returning(lambda: bytes(MUCH)),
    "tool-json": returning(lambda: [{"n": n, "text": "x" * 80} for n in range(MUCH // 100)]),
    "tool-image": returning(lambda: PNG + bytes(MUCH // 2)),
    "tool-endless": returning(_endless),
    "tool-endless-large": returning(lambda: ("x" * 1_000_000 for _ in _endless())),
    "tool-endless-async": endless_async,
    "tool-barren": barren,
    "tool-deep": returning(_deep),
    "tool-around": returning(_around),
    "tool-bottomless": returning(_Bottomless),
    "read-lines": reading(_lines),
    "read-end": reading(_lines, -5),
    "read-line": reading(lambda file: file.write(b"x" * MUCH)),
    "read-binary": reading(lambda file: file.write(bytes(MUCH))),
    "read-image": reading(lambda file: file.write(PNG + bytes(MUCH // 2))),
    "search-many": searching,
    "calls-thousand": thousand,
    "calls-mixed": thousand_kinds,
    "prompt": prompt,
    "mcp-huge": mcp,
}
