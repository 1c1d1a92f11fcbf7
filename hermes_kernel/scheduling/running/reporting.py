"""What a run reports: what its last cell that says anything said; of a turn the answer itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_kernel.cell import is_prompt
from hermes_kernel.core.events import Final, Outcome
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import scrub
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import NoSession, StoreError

if TYPE_CHECKING:
    from nbformat import NotebookNode

LONGEST = 20_000  # characters of a report
MORE = "\n\n[… the rest is in the notebook]"


@dataclass(frozen=True, slots=True)
class Answer:
    """How the last turn of a run ended, and what it said; ``session`` is the conversation it was in. All empty where
    there was none."""

    session: str = ""
    text: str = ""
    outcome: Outcome | None = None


def answer(store: Archive, run: str) -> Answer:
    """That of the run, by its conversations: they are known by the run's id."""
    try:
        session = store.latest(run)
        facts = store.recall(session) if session else []
    except (StoreError, NoSession, KeyError):
        return Answer()
    final = next((fact for fact in reversed(facts) if isinstance(fact, Final)), None)
    return Answer(session or "", final.text if final else "", final.outcome if final else None)


def report(notebook: NotebookNode, kernel: str, said: Answer) -> str:
    """In Markdown, bounded."""
    text = scrub(clean(_last_words(notebook, kernel, said)))
    return text if len(text) <= LONGEST else text[: LONGEST - len(MORE)] + MORE


def _last_words(notebook: NotebookNode, kernel: str, said: Answer) -> str:
    for cell in reversed(notebook.cells):
        if cell.cell_type == "code":
            if said.session and _asks(cell, kernel):
                return said.text.strip()
            if text := _shown(cell):
                return text
    return ""


def _asks(cell: Any, kernel: str) -> bool:
    """It is a prompt, and was run."""
    asks = cell.source.lstrip().startswith("%%hermes") or (kernel == "hermes" and is_prompt(cell.source, {}))
    return asks and bool(cell.execution_count)


def _shown(cell: Any) -> str:
    """The last thing that was displayed in words; where there is none, what was printed."""
    data = [output.data for output in cell.outputs if output.output_type in ("display_data", "execute_result")]
    texts = (_text(each.get(mime)) for each in reversed(data) for mime in ("text/markdown", "text/plain"))
    printed = (_text(out.text) for out in cell.outputs if out.output_type == "stream" and out.name == "stdout")
    return next(filter(None, texts), "") or "".join(printed).strip()


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
