"""What subagents are asked to do, read from what a model or a person wrote; refused in words that can be acted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Annotated, Any, TypeGuard

from hermes_kernel.core.budget import LEAST
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError

MOST = 200  # tasks of one call
LONGEST = 100_000  # characters of a brief; longer material belongs into a file
NAME = 60


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work for a subagent."""

    task: Annotated[str, "The whole brief: what to do, with what, and what to report. It sees nothing else."]
    context: Annotated[str | None, "What it has to know besides: facts, paths, names, limits."] = None
    tools: Annotated[tuple[str, ...] | None, "Names of the only tools it needs; otherwise it has yours."] = None
    budget: Annotated[int | None, "Model calls at most, 2 or more; otherwise a fair share of yours."] = None
    name: Annotated[str | None, "A short name for it."] = None

    @property
    def title(self) -> str:
        """What it is called; once read by `tasks_of`, no two are called alike."""
        return self.name or brief(clean(self.task), NAME)

    @property
    def prompt(self) -> str:
        """What the subagent is asked."""
        return f"{self.task}\n\n# Context\n{self.context}" if self.context else self.task


Tasks = str | Mapping[str, Any] | Task | Iterable[str | Mapping[str, Any] | Task]


class BadTasks(HermesError):
    """These cannot be handed over. One line says which and why."""


def tasks_of(given: Tasks) -> tuple[Task, ...]:
    """The tasks, each under a name of its own.

    Raises:
        BadTasks: there are none or too many, or one of them is no task.
    """
    many = (given,) if isinstance(given, str | Mapping | Task) else given
    if not isinstance(many, Iterable):
        raise BadTasks(f"tasks is a {type(many).__name__}: give a list with one brief for each subagent.")
    items: list[object] = list(islice(many, MOST + 1))
    if not items:
        raise BadTasks("tasks is empty: give one brief for each subagent.")
    if len(items) > MOST:
        raise BadTasks(f"tasks has more than {MOST} items: put some together, or hand them over in several calls.")
    return _named([_task(item, f"tasks[{n}]") for n, item in enumerate(items)])


def _task(item: object, where: str) -> Task:
    match item:
        case Task():
            return _checked(item, where)
        case str():
            return _checked(Task(item), where)
        case Mapping():
            known = [field.name for field in fields(Task)]
            if unknown := [str(key) for key in item if key not in known]:
                raise BadTasks(f"{where} does not know {brief(', '.join(unknown), 100)}: it has {', '.join(known)}.")
            return _checked(Task(**{"task": "", **item}), where)
        case _:
            raise BadTasks(f"{where} is a {type(item).__name__}: give a brief in words, or an object with a task.")


def _checked(task: Task, where: str) -> Task:
    """`task` with nothing in it that is of the wrong kind or size."""
    text, context, name = (_text(value, f"{where}.{part}") for part, value in _texts(task))
    if not text.strip():
        raise BadTasks(f"{where}.task is empty: say what is to be done, with all that has to be known for it.")
    if (size := len(text) + len(context)) > LONGEST:
        raise BadTasks(f"{where} has {size:,} characters, {LONGEST:,} at most: put the material into a file, name it.")
    name = brief(clean(name), NAME)
    return Task(text, context or None, _tools(task.tools, where), _budget(task.budget, where), name or None)


def _texts(task: Task) -> tuple[tuple[str, object], ...]:
    return ("task", task.task), ("context", task.context), ("name", task.name)


def _text(value: object, where: str) -> str:
    if value is not None and not isinstance(value, str):
        raise BadTasks(f"{where} is a {type(value).__name__}: it has to be text.")
    return scrub(value or "")


def _budget(value: object, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < LEAST:
        raise BadTasks(f"{where}.budget is {brief(repr(value), 40)}: it has to be {LEAST} model calls or more.")
    return value


def _tools(value: object, where: str) -> tuple[str, ...] | None:
    """The names, which models also write as one text with commas."""
    if value is None:
        return None
    names: list[object] = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if not _are_text(names):
        raise BadTasks(f"{where}.tools is {brief(repr(value), 40)}: give the names of tools.")
    return tuple(dict.fromkeys(part for name in names for part in scrub(name).replace(",", " ").split()))


def _are_text(values: list[object]) -> TypeGuard[list[str]]:
    return all(isinstance(value, str) for value in values)


def _named(tasks: list[Task]) -> tuple[Task, ...]:
    """Each under a name of its own: the second ``count`` is ``count (2)``."""
    seen: Counter[str] = Counter()
    named: list[Task] = []
    taken = {task.title for task in tasks}
    for task in tasks:
        title = task.title
        seen[title] += 1
        if seen[title] > 1:
            title = next(t for n in range(seen[task.title], MOST + 2) if (t := f"{task.title} ({n})") not in taken)
            taken.add(title)
        named.append(replace(task, name=title))
    return tuple(named)
