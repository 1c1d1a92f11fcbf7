"""A picture as text, Markdown and HTML. Texts are deterministic: no times but those asked for, no addresses.

Everything a model, a tool or a server said is escaped; colours are the theme's, and never say anything alone.
"""

from __future__ import annotations

from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import clean, escape, sanitise
from hermes_kernel.view.picture import Picture
from hermes_kernel.view.words import Row

MARKS = {"asked": "·", "running": "▸", "ok": "✓", "failed": "✗", "not run": "–"}
THOUGHTS = 20_000  # characters of reasoning kept in a notebook

FRAME = "font-size:var(--jp-ui-font-size1,13px);color:var(--jp-ui-font-color2,GrayText);line-height:1.5;"
CODE = "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,12px)"
TONES = {
    "busy": "var(--jp-brand-color1,#1976d2)",
    "slow": "var(--jp-warn-color1,#b26a00)",
    "person": "var(--jp-success-color1,#2e7d32)",
    "bad": "var(--jp-error-color1,#c62828)",
}


def status_line(picture: Picture, seconds: float = 0.0) -> str:
    """What is going on, in a few words; `seconds` are those since it began."""
    status = picture.status
    words = f"{status.words}, {int(seconds)} s" if status.ticks and seconds >= 1 else status.words
    return " · ".join(part for part in (words, picture.aside) if part)


def done_line(picture: Picture) -> str:
    """How it ended and what it took, without what differs from run to run: tokens count the day and the folder, too."""
    ended = picture.final.outcome.replace("_", " ") if picture.final else "not finished"
    parts = [ended, f"{picture.calls} of {picture.limit} calls"]
    return " · ".join([*parts, *([_count(picture.rows)] if picture.rows else [])])


def cost_line(picture: Picture, seconds: float | None = None) -> str:
    """`done_line` and the price: tokens, money where the server states it, and `seconds` where they are given."""
    used = picture.usage
    parts = [
        done_line(picture),
        f"{'about ' if used.estimated else ''}{used.input_tokens + used.output_tokens:,} tokens",
    ]
    parts += [f"${used.cost:.4f}"] if used.cost else []
    parts += [f"{seconds:.1f} s"] if seconds is not None else []
    return " · ".join(parts)


def heading_plain(picture: Picture) -> str:
    """The tools and how it ended, in text."""
    rows = [row_line(row, timed=False) for row in picture.rows]
    return "\n".join([*rows, *picture.notices, *_reason(picture), f"[{done_line(picture)}]"])


def heading_html(picture: Picture, seconds: float | None = None) -> str:
    """The line above an answer: the status and the tools, or, once it is over, one quiet line that opens on them."""
    if picture.final is None:
        return _frame(_status(picture, seconds or 0.0), *_rows(picture, timed=True))
    summary = escape(cost_line(picture, seconds))
    inside = [*_rows(picture, timed=seconds is not None), *_thoughts(picture)]
    tone = "" if picture.final.outcome == "completed" else f"color:{TONES['bad']}"
    if not inside:
        return _frame(f'<div style="{tone}">{summary}</div>', *_reason_html(picture))
    line = f'<summary style="cursor:pointer;{tone}">{summary}</summary>'
    return _frame(f"<details>{line}{''.join(inside)}</details>", *_reason_html(picture))


def still(picture: Picture) -> dict[str, str]:
    """The finished turn as one bundle, the same for the same events: for notebooks that are compared or printed."""
    plain = "\n\n".join(part for part in (clean(picture.text).strip(), heading_plain(picture)) if part)
    return {"text/plain": plain, "text/markdown": markdown(picture)}


def markdown(picture: Picture) -> str:
    """The answer, then a quiet line that opens on the tools where there were any."""
    inside = [*_rows(picture, timed=False), *_thoughts(picture)]
    line = f"*{done_line(picture)}*"
    if inside:
        line = f"<details><summary>{escape(done_line(picture))}</summary>{''.join(inside)}</details>"
    reason = [f"*{sanitise(text)}*" for text in _reason(picture)]
    return "\n\n".join(part for part in (sanitise(picture.text).strip(), *reason, line) if part)


def row_line(row: Row, *, timed: bool) -> str:
    """One tool call as a line of text."""
    ending = "" if row.state in ("ok", "asked") else row.state
    parts = [f"{MARKS[row.state]} {row.name}", row.arguments, row.note, ending]
    took = f"{row.seconds:.1f} s" if timed and row.seconds >= 0.1 else ""
    return clean("  ".join(part for part in (*parts, took) if part))


# --- pieces of HTML ---------------------------------------------------------------------------------------------------


def _frame(*parts: str) -> str:
    return f'<div class="hermes-turn" style="{FRAME}">{"".join(parts)}</div>'


def _status(picture: Picture, seconds: float) -> str:
    dot = f'<span aria-hidden="true" style="color:{TONES[picture.status.tone]}">● </span>'
    return f'<div role="status" aria-live="polite">{dot}{escape(status_line(picture, seconds))}</div>'


def _rows(picture: Picture, *, timed: bool) -> list[str]:
    notices = [f"<div>{escape(text)}</div>" for text in picture.notices]
    return [*(_row(row, timed=timed) for row in picture.rows), *notices]


def _row(row: Row, *, timed: bool) -> str:
    colour = f"color:{TONES['bad']};" if row.state == "failed" else ""
    words = escape(row_line(row, timed=timed))
    style = f"{CODE};{colour}white-space:nowrap;overflow:hidden;text-overflow:ellipsis"
    return f'<div style="{style}" title="{words}">{words}</div>'


def _thoughts(picture: Picture) -> list[str]:
    thoughts = picture.thoughts.strip()[:THOUGHTS]
    if not thoughts:
        return []
    text = f'<div style="white-space:pre-wrap;padding-left:1em">{escape(thoughts)}</div>'
    return [f'<details><summary style="cursor:pointer">reasoning</summary>{text}</details>']


def _reason(picture: Picture) -> list[str]:
    """Why it ended so; a failed turn says it in its error instead."""
    final = picture.final
    return [clean(final.reason)] if final and final.reason and final.outcome not in ("failed", "interrupted") else []


def _reason_html(picture: Picture) -> list[str]:
    return [f"<div>{escape(reason)}</div>" for reason in _reason(picture)]


def _count(rows: tuple[Row, ...]) -> str:
    return counted(len(rows), "tool")
