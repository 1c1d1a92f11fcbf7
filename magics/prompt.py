"""A prompt as it is sent: ``$name`` becomes a view of a variable, ``@path`` a file. Nothing is called, nothing is run.

``{}`` is always literal, ``$$`` and ``@@`` are a dollar and an at sign, and what stands in a ``` fence is left alone.
"""

from __future__ import annotations

import base64
import difflib
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_kernel.core.messages import PICTURES, Image
from hermes_kernel.core.text import FENCED, brief, scrub
from hermes_kernel.errors import HermesError
from magics.values import inline, kind, view

FILE = 100_000  # characters of one file that are shown
PICTURE = 8_000_000  # bytes of one image
LONGEST = 20_000_000  # characters of a whole prompt

MARK = re.compile(
    r"(?P<literal>\$\$|@@)"
    r"|\$(?P<name>[^\W\d]\w*)(?P<path>(?:\.[^\W\d]\w*|\[(?:-?\d+|'[^'\n]*'|\"[^\"\n]*\")\])*)"
    r"|(?<![\w.@`])@(?:\"(?P<quoted>[^\"\n]+)\"|'(?P<single>[^'\n]+)'|(?P<file>~?[\w./][\w./+-]*))"
)
ENDING = re.compile(r"(?:(?<=[^./])|(?<=\.\.))\.+$|(?<=/)\.$")
"""The dots behind a file's name that end a sentence. Those of `.` and `..` are the name."""
IPYTHONS = frozenset({"In", "Out", "exit", "quit", "open", "get_ipython"})
STEP = re.compile(r"\.(?P<attribute>\w+)|\[(?:(?P<index>-?\d+)|'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\")\]")


@dataclass(slots=True)
class Prompt:
    """A prompt being made ready: the sentence, the longer views that follow it, and the pictures that go with it."""

    names: Mapping[str, Any]
    folder: Path
    sections: dict[str, str] = field(default_factory=dict)
    images: list[Image] = field(default_factory=list)

    def expand(self, body: str) -> str:
        """`body` with every mark replaced.

        Raises:
            HermesError: a name is unknown, a file is missing, or the whole is too long. The text says which.
        """
        if len(body) > LONGEST:
            raise HermesError(f"The prompt has {len(body):,} characters; {LONGEST:,} is the limit. Put it into a file.")
        parts = FENCED.split(body)
        sentence = "".join(part if n % 2 else MARK.sub(self._mark, part) for n, part in enumerate(parts))
        return scrub("\n\n".join([sentence.strip(), *self.sections.values()]))

    def _mark(self, found: re.Match[str]) -> str:
        if found["literal"]:
            return found["literal"][0]
        if found["name"]:
            return self._variable(found["name"], found["path"])
        return self._file(found)

    # --- variables

    def _variable(self, name: str, path: str) -> str:
        if name not in self.names:
            close = [f"${each}" for each in difflib.get_close_matches(name, visible(self.names), 3)]
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise HermesError(f"There is no variable ${brief(name, 80)}.{hint} ($$ is a literal dollar.)")
        said = name + path
        value = self._follow(name, path)
        try:
            text = view(value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the variable's own code fails or leaves, not ours
            raise HermesError(f"${said} cannot be shown: {_problem(error)}.") from None
        if inline(text):
            return text
        self.sections[said] = f"{said} ({kind(value)}):\n{text}"
        return f"`{said}`"

    def _follow(self, name: str, path: str) -> Any:
        value, said = self.names[name], name
        for step in STEP.finditer(path):
            try:
                value = _step(value, step)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - properties run the variable's own code
                raise HermesError(_lost(value, said, step, error)) from None
            said += step[0]
        return value

    # --- files

    def _file(self, found: re.Match[str]) -> str:
        name = found["quoted"] or found["single"] or unended(found["file"])
        trailing = (found["file"] or "").removeprefix(name)
        try:
            path = self.folder / Path(name).expanduser()
            there = _is_there(path)
        except (OSError, RuntimeError) as error:  # longer than a name can be, or in the home of nobody
            raise HermesError(
                f"{brief(name, 80)} cannot be read: {_problem(error)}. (@@ is a literal at sign.)"
            ) from None
        if not there and found["file"] and not re.search(r"[./~]", name):
            return found[0]
        return self._read(name, path) + trailing

    def _read(self, name: str, path: Path) -> str:
        try:
            path.stat()
            if path.is_dir():
                names = sorted(each.name for each in path.iterdir())
                return self._section(name, "\n".join(names[:200]), "folder")
            mime = mimetypes.guess_type(path.name)[0] or ""
            return self._picture(name, path, mime) if mime in PICTURES else self._text(name, path)
        except FileNotFoundError:
            raise HermesError(
                f"There is no file {brief(name, 80)} in {self.folder}. (@@ is a literal at sign.)"
            ) from None
        except OSError as error:
            raise HermesError(f"{brief(name, 80)} cannot be read: {error.strerror}.") from None
        except ValueError:  # a zero byte, half a pair: no system has such names
            raise HermesError(f"{brief(name, 80)!r} is no name of a file. (@@ is a literal at sign.)") from None

    def _text(self, name: str, path: Path) -> str:
        if not path.is_file():
            raise HermesError(f"{name} is not a file that can be read.")
        size = path.stat().st_size
        with path.open("rb") as file:
            raw = file.read(4 * FILE)
        if b"\0" in raw[:4096]:
            return self._section(name, f"[a binary file of {size:,} bytes]")
        text = raw.decode(errors="replace")
        cut = len(text) > FILE or size > len(raw)
        return self._section(name, text[:FILE] + (f"\n[… the file has {size:,} bytes in all]" if cut else ""))

    def _picture(self, name: str, path: Path, mime: str) -> str:
        if path.stat().st_size > PICTURE:
            raise HermesError(f"{name} is larger than {PICTURE // 1_000_000} MB, the limit for an image.")
        self.images.append(Image(mime, base64.b64encode(path.read_bytes()).decode()))
        return f"`{name}` (image {len(self.images)})"

    def _section(self, name: str, text: str, kind: str = "file") -> str:
        self.sections["@" + name] = f"{name} ({kind}):\n{text}"
        return f"`{name}`"


def unended(file: str) -> str:
    """`file` as it is named in a prompt, without what ends the sentence there."""
    return ENDING.sub("", file)


def visible(names: Mapping[str, Any]) -> list[str]:
    """The names a person gave, without IPython's own."""
    return [name for name in names if not name.startswith("_") and name not in IPYTHONS]


def _is_there(path: Path) -> bool:
    """`OSError` for what no file can be called: from Python 3.14 on, `Path.exists` says that there is none."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    return True


def _step(value: Any, step: re.Match[str]) -> Any:
    if step["attribute"]:
        return getattr(value, step["attribute"])
    if step["index"] is not None:
        return value[int(step["index"])]
    return value[step["one"] if step["one"] is not None else step["two"]]


def _lost(value: Any, said: str, step: re.Match[str], error: BaseException) -> str:
    """Why `step` leads nowhere."""
    name = step["attribute"]
    if name and isinstance(error, AttributeError) and not hasattr(type(value), name):
        close = difflib.get_close_matches(name, [each for each in dir(value) if not each.startswith("_")], 3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        return f"${said} has no attribute {name}.{hint}"
    return f"${said}{step[0]} cannot be read: {_problem(error)}."


def _problem(error: BaseException) -> str:
    words = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
