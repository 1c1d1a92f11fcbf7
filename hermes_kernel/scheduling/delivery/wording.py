"""What a person is told of a run: a title and some Markdown, short, without secrets. A report's text is a model's and
may be hostile: by what is sent nobody is called, nothing is loaded, and nothing of it is HTML. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hermes_kernel.core.safe import sanitise
from hermes_kernel.core.schedule.saying import moment
from hermes_kernel.core.schedule.silence import without_mark
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.scheduling.ports import Report
from hermes_kernel.view import clean

LONGEST = 4_000  # characters of a message; some services take less, and are sent it in parts
NAMED = 100  # of a job's name in a title
NOTHING = "It said nothing."
ENDS = {"ran": "done"}
TONES = {"ran": "success", "failed": "failure"}  # of which services make a colour or a sign
CALL = re.compile(r"@(?=everyone|here)|(?<![^\W_])@(?=\w)|<(?=[A-Za-z/!?@#])(?!(?:https?://|mailto:)[^\s<>]+>)")
"""What begins a mention or a tag: ``@everyone``, ``<@U123>``, ``<!channel>``, ``<img``. A mail address has none, unless
its server is called ``here``: some services call people in the middle of a word."""
GAP = "\u200b"  # of no width: people read what it stands in as before, and programs do not
FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Message:
    """``title`` is one line, ``body`` Markdown, both as they were said; ``tone`` is ``info``, or one of `TONES`;
    ``when`` in words the run was due."""

    title: str
    body: str
    tone: str = "info"
    when: str = ""

    @property
    def heading(self) -> str:
        """The title for a service."""
        return uncalled(self.title)

    @property
    def text(self) -> str:
        """The body for a service, which shows it or makes HTML of it as it likes."""
        return uncalled(self.body)

    @property
    def page(self) -> str:
        """All of it as a page of Markdown, safe wherever it is opened."""
        parts = [f"# {sanitise(self.title)}", *([f"*{self.when}*"] if self.when else []), sanitise(self.body)]
        return "\n\n".join(parts) + "\n"


def message(report: Report, redact: Callable[[str], str], longest: int = LONGEST) -> Message:
    """What is sent of `report`."""

    def plain(text: str) -> str:
        return redact(clean(scrub(text)))

    title = f"{brief(plain(report.name), NAMED) or 'A job'}: {ENDS.get(report.outcome, brief(report.outcome, 20))}"
    body, when = bounded(_said(report, plain), longest, _rest(report)), moment(report.due, report.zone)
    return Message(title, body, TONES.get(report.outcome, "info"), when)


def uncalled(text: str) -> str:
    """`text` in which mentions are mere words, and pictures, which a client would load, are links."""
    return CALL.sub(lambda found: found[0] + GAP, text).replace("![", "[")


def bounded(text: str, longest: int, rest: str) -> str:
    """`text` of at most `longest` characters and a line that says where the `rest` is, with code that is cut closed."""
    if len(text) <= longest:
        return text
    kept = text[:longest].rstrip()
    opened = ""
    for mark in FENCE.findall(kept):
        opened = mark if not opened else "" if mark.startswith(opened) else opened
    closing = f"\n{opened}" if opened else ""
    return f"{kept}{closing}\n\n… {rest}"


def _said(report: Report, plain: Callable[[str], str]) -> str:
    text = plain(without_mark(report.text))
    if report.outcome == "ran":
        return text or NOTHING
    where = f"The notebook: {plain(str(report.notebook))}" if report.notebook else ""
    return "\n\n".join(part for part in (brief(plain(report.why), 500), where, text) if part)


def _rest(report: Report) -> str:
    return f"the rest is in {clean(str(report.notebook))}" if report.notebook else "the rest was left out"
