"""The notebook of a job that is a prompt: what it is about, its parameters, and the cell that asks. "Run All" asks the
same again. The same job and instant make the same notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hermes_kernel.core.safe import sanitise
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.saying import moment
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.ports import Work
from hermes_kernel.scheduling.running.nodes import code, markdown, node
from hermes_kernel.scheduling.running.parameters import assignments

if TYPE_CHECKING:
    from nbformat import NotebookNode

HERMES = {"name": "hermes", "display_name": "Hermes", "language": "python"}
AGAIN = (
    "To run it again, open it in Jupyter and choose *Run All*: it asks the same, in your kernel, with your approvals."
)
PLAIN = re.compile(r"[\w.,:/@#+][\w.,:/@#+-]*")
ENDED = {"failed": "failed", "stopped": "was stopped"}
LINE = 300  # characters of a line in the head


def composed(work: Work, understood: str = "") -> NotebookNode:
    """The notebook of this run of a prompt; ``understood`` is its schedule in words.

    Raises:
        HermesError: a parameter or an option cannot be written down.
    """
    return _notebook(list(_cells(work, understood)))


def titled(name: str) -> NotebookNode:
    """A notebook of which nothing is known but what it is of."""
    return _notebook([markdown("about", f"# {sanitise(brief(name, LINE))}")])


def noted(outcome: str, why: str) -> NotebookNode:
    """A cell that says how a run ended."""
    return markdown("ended", f"*This run {ENDED[outcome]}: {sanitise(brief(why, LINE))}*")


def _notebook(cells: list[NotebookNode]) -> NotebookNode:
    metadata = {"kernelspec": HERMES, "language_info": {"name": "python"}}
    return node({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _cells(work: Work, understood: str) -> Iterator[NotebookNode]:
    yield markdown("about", _about(work, understood))
    if work.job.parameters:
        yield code("parameters", f"%%py\n{assignments(work.job.parameters)}", "parameters")
    yield code("prompt", f"%%hermes {options(work.job)}".rstrip() + "\n" + scrub(work.job.prompt))


def _about(work: Work, understood: str) -> str:
    missed = f" It makes up for {work.missed} earlier." if work.missed else ""
    lines = (understood, f"The run of {moment(work.due, work.job.zone)}.{missed}", AGAIN)
    said = [sanitise(brief(line, LINE)) if line is not AGAIN else line for line in lines if line]
    return "\n\n".join([f"# {sanitise(brief(work.job.name, LINE))}", *said])


def options(job: Job) -> str:
    """How its cell is to ask.

    Raises:
        HermesError: a value has in it what cannot stand in a line.
    """
    said = [("--model", job.model), ("--budget", str(job.budget or ""))]
    said += [("--tools", ",".join(job.tools) or "none")] if job.tools is not None else []
    said += [("--skill", skill) for skill in job.skills]
    return " ".join(_option(name, value) for name, value in said if value)


def _option(name: str, value: str) -> str:
    if PLAIN.fullmatch(value):
        return f"{name} {value}"
    quote = next((each for each in "\"'" if each not in value), "")
    if not quote or len(value.splitlines()) > 1 or not value.isprintable():
        raise HermesError(f"{name} cannot be {brief(value, 60)!r}: quotes of both kinds or a line's end are in it.")
    return f"{name}={quote}{value}{quote}"
