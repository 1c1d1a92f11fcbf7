"""What may be wished of a job: each wish is checked by itself, and refused by its name with what is allowed.

A wish comes from a person, a command line or a model, so it is whatever JSON or Python can say. What is accepted is a
value that `core.schedule.job.Job` can hold; secrets are taken out of what will be kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_kernel.cell import variables
from hermes_kernel.checks import affordable
from hermes_kernel.core.schedule.job import MISFIRES, NONE, NOTEBOOK, Job, Parameter
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError
from hermes_kernel.prompt import BUILT_IN, THEIRS
from hermes_kernel.scheduling.close import close_to
from hermes_kernel.scheduling.notebooks import checked_notebook, parameters_of
from hermes_kernel.scheduling.values import is_variable, json_text, names, one_of, seconds, shown

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
PROMPT_CHARS = 100_000
MODEL_CHARS = 300
MOST = 1_000_000  # of runs, of notebooks that are kept
APPROVALS = ("deny", "allow")


@dataclass(frozen=True, slots=True)
class Ground:
    """What wishes are held against: the ``folder`` that paths are meant from, which ``skills`` there are (None: nobody
    knows), which ``tools`` a run is offered, who says under which names reports go where they are wished (``deliver``,
    which raises `HermesError` where they cannot), and what takes secrets out of a text."""

    folder: Path
    redact: Callable[[str], str]
    deliver: Callable[[Sequence[str]], Sequence[str]]
    skills: Callable[[], Collection[str]] | None = None
    tools: Callable[[], Collection[str]] = lambda: BUILT_IN


def understood(wishes: Mapping[str, Any], ground: Ground) -> dict[str, Any]:
    """Fields of a job, by name, as these wishes say.

    Raises:
        HermesError: one of them is unknown, or cannot be; the text names it and says what is allowed.
    """
    for name in wishes:
        if name not in CHECKS:
            raise HermesError(f"A job has no {brief(repr(name), 60)}. {close_to(str(name), CHECKS)}")
    return {name: CHECKS[name](wish, ground) for name, wish in wishes.items()}


def checked_whole(job: Job) -> None:
    """Refuse wishes that do not go together: what is asked of an agent, a notebook's own cells say; and what a prompt
    asks for, a run must have.

    Raises:
        HermesError: a notebook was to have one of them, or a parameter that it does not take; or a prompt asks for a
            variable that no run has.
    """
    known = {each.name for each in job.parameters}
    if missing := [name for name in variables(job.prompt) if name not in known]:
        name = brief(missing[0], 40)
        raise HermesError(
            f"No run has the variable ${name}: it begins in a kernel of its own. -p {name}=VALUE gives it to each, "
            "@path shows a file, $$ is a literal dollar."
        )
    takes = parameters_of(Path(job.notebook)) if job.notebook and known else frozenset()
    if takes and (unknown := sorted(known - takes)):
        name = Path(job.notebook).name
        raise HermesError(f"{name} takes no parameter {brief(unknown[0], 40)}. {close_to(unknown[0], takes)}")
    given = {"budget": job.budget, "model": job.model, "tools": job.tools is not None, "skills": job.skills}
    for name, wish in given.items():
        if job.notebook and wish:
            raise HermesError(
                f"{name} is for a prompt: the cells of a notebook say it themselves, such as `%%hermes --budget 5`."
            )


def work(prompt: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be done: a prompt or a notebook."""
    wanted = prompt != "" or "notebook" not in given
    if wanted and "notebook" in given:
        raise HermesError("A job does a prompt or runs a notebook, not both. Write the prompt into the notebook.")
    return {"prompt": prompt} if wanted else {}


def exclusive(job: Job, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """`changes`; of prompt and notebook, which a job has one of, none that it has not."""
    for name, other in (("prompt", "notebook"), ("notebook", "prompt")):
        if name in changes and getattr(job, other):
            raise HermesError(f"{job.name} has a {other}, so it takes no {name}. Make another job for it.")
    return changes


# --- texts


def named(wish: Any, _: Ground) -> str:
    """A name that a job may have."""
    if not isinstance(wish, str) or not NAME.fullmatch(wish):
        raise HermesError(
            f"name cannot be {shown(wish)}: it must be 1 to 40 lower-case letters, digits and hyphens, the first "
            "of them no hyphen, such as monday-report."
        )
    return wish


def _prompt(wish: Any, ground: Ground) -> str:
    if not isinstance(wish, str) or not wish.strip():
        raise HermesError("prompt is empty. Say what is to be done, or name a notebook.")
    if len(wish) > PROMPT_CHARS:
        raise HermesError(f"prompt has {len(wish):,} characters: it must have {PROMPT_CHARS:,} at most.")
    return ground.redact(scrub(wish).strip())


def _model(wish: Any, ground: Ground) -> str:
    text = scrub(wish).strip() if isinstance(wish, str) else None
    if text is None or not text.isprintable() or len(text) > MODEL_CHARS:
        raise HermesError(f"model cannot be {shown(wish)}: it must be the name of a model, in one line.")
    return ground.redact(text)


# --- places


def _folder(wish: Any, ground: Ground) -> str:
    path = _path("folder", wish, ground)
    if not _is(path.is_dir):
        raise HermesError(f"folder cannot be {shown(wish)}: there is no such folder.")
    return str(path)


def _notebook(wish: Any, ground: Ground) -> str:
    return str(checked_notebook(_path("notebook", wish, ground)))


def _path(name: str, wish: Any, ground: Ground) -> Path:
    text = str(wish) if isinstance(wish, str | Path) else ""
    if not text.strip() or not text.isprintable() or scrub(text) != text:
        raise HermesError(f"{name} cannot be {shown(wish)}: it must be a path.")
    try:
        return (ground.folder / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a home folder that nobody has
        raise HermesError(f"{name} cannot be {shown(wish)}: there is no such path.") from None


def _is(asked: Callable[[], bool]) -> bool:
    try:
        return asked()
    except (OSError, ValueError):  # a name that is too long, a folder that may not be looked into
        return False


# --- lists


def _skills(wish: Any, ground: Ground) -> tuple[str, ...]:
    wanted = names("skills", wish)
    known = ground.skills() if wanted and ground.skills else wanted
    for name in wanted:
        if name not in known:
            raise HermesError(f"There is no skill {shown(name)}. {close_to(name, known)}")
    return wanted


def _tools(wish: Any, ground: Ground) -> tuple[str, ...] | None:
    if wish is None:
        return None
    wanted, known = names("tools", wish), ground.tools()
    for name in wanted:
        if name not in known and not name.startswith(THEIRS):  # a server's tools come and go with it
            raise HermesError(f"There is no tool {shown(name)} in a run. {close_to(name, known)}")
    return wanted


def _deliver(wish: Any, ground: Ground) -> tuple[str, ...]:
    wanted = names("deliver", wish) or (NOTEBOOK,)
    if NONE in wanted and len(wanted) > 1:
        others = ", ".join("an address" if ":/" in each else brief(each, 40) for each in wanted if each != NONE)
        raise HermesError(f"deliver cannot be {NONE} and {others} at once: either no one is told, or they are.")
    return tuple(ground.deliver(wanted))


def _parameters(wish: Any, ground: Ground) -> tuple[Parameter, ...]:
    if not isinstance(wish, Mapping):
        raise HermesError(f"parameters cannot be {shown(wish)}: it must be values by name, such as {{'week': 48}}.")
    made = tuple(Parameter(_identifier(name), ground.redact(json_text(name, value))) for name, value in wish.items())
    size = sum(len(each.value) for each in made)
    if size > PROMPT_CHARS:
        raise HermesError(f"parameters have {size:,} characters: they must have {PROMPT_CHARS:,} at most.")
    return made


def _identifier(name: Any) -> str:
    if not isinstance(name, str) or not is_variable(name):
        raise HermesError(f"A parameter cannot be called {shown(name)}: it must be a name that Python can assign to.")
    return name


# --- numbers


def _budget(wish: Any, _: Ground) -> int:
    return 0 if wish is None else affordable(wish, 1)


def _whole(name: str, least: int) -> Callable[[Any, Ground], int]:
    def read(wish: Any, _: Ground) -> int:
        if isinstance(wish, bool) or not isinstance(wish, int) or not least <= wish <= MOST:
            raise HermesError(f"{name} cannot be {shown(wish)}: it must be a whole number from {least} to {MOST:,}.")
        return wish

    return read


def _grace(wish: Any, _: Ground) -> float | None:
    return None if wish is None else seconds("grace", wish)


def _jitter(wish: Any, _: Ground) -> float:
    return seconds("jitter", wish)


def _timeout(wish: Any, _: Ground) -> float:
    found = seconds("timeout", wish)
    if 0 < found < 1:
        raise HermesError(f"timeout cannot be {shown(wish)}: it must be at least 1 second, or 0 for no limit.")
    return found


# --- choices


def _switch(name: str) -> Callable[[Any, Ground], bool]:
    def read(wish: Any, _: Ground) -> bool:
        if not isinstance(wish, bool):
            raise HermesError(f"{name} cannot be {shown(wish)}: it must be True or False.")
        return wish

    return read


def _choice(name: str, choices: Sequence[str]) -> Callable[[Any, Ground], str]:
    def read(wish: Any, _: Ground) -> str:
        if wish not in choices or not isinstance(wish, str):
            raise HermesError(f"{name} cannot be {shown(wish)}: it must be {one_of(choices)}.")
        return wish

    return read


CHECKS: Mapping[str, Callable[[Any, Ground], Any]] = {
    "name": named, "prompt": _prompt, "notebook": _notebook, "parameters": _parameters, "skills": _skills,
    "tools": _tools, "model": _model, "budget": _budget, "folder": _folder, "repeat": _whole("repeat", 0),
    "misfire": _choice("misfire", MISFIRES), "grace": _grace, "jitter": _jitter, "timeout": _timeout,
    "deliver": _deliver, "approvals": _choice("approvals", APPROVALS), "jobs": _switch("jobs"),
    "keep": _whole("keep", 1), "anywhere": _switch("anywhere"),
}  # fmt: skip
"""Every wish there is but for when, and how it is read. What is not wished is as `Job` has it."""
