"""A reply of 200 kB at 2,000 chunks a second: the page is there for the person, and little more than the reply is sent."""

from __future__ import annotations

from statistics import median

import nbformat
import pytest

from hermes_kernel.testing import Server, Step, say, wire
from hermes_kernel.testing.step import Pause, framed
from tests.browser.lab import MARKS, NEWEST

pytestmark = MARKS

SIZE, RATE, BATCH = 200_000, 2_000, 20
PARAGRAPHS = [
    f"Paragraph {n} is about **ducks**, `ponds[{n}]` and bread, and it goes on for a while, as answers do.\n\n"
    if n % 7 else f"## Heading {n}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| {n} | x |\n\n```python\nprint({n})\n```\n\n"
    for n in range(3_000)
]  # fmt: skip
TEXT = "".join(PARAGRAPHS)[:SIZE]
CHUNKS = [TEXT[at : at + 12] for at in range(0, SIZE, 12)]


def flood() -> Step:
    """The text in chunks of twelve characters, twenty of them each hundredth of a second."""
    step = say("")
    events = [wire.text_event(chunk) for chunk in CHUNKS]
    beats: list[bytes | Pause] = []
    for at in range(0, len(events), BATCH):
        beats += [b"".join(events[at : at + BATCH]), Pause(BATCH / RATE)]
    return Step("flood", (*framed(beats), *step.beats))


@pytest.mark.parametrize("kernel", NEWEST, ids=str)
def test_the_page_answers_a_click_while_the_reply_pours_in_and_what_is_kept_is_the_reply(lab, kernel):
    with Server([flood()]) as server:
        path = lab.notebook("flood", kernel, server.url, [kernel.ask("Tell me all.")])
        seen = lab.drive("flood.mjs", path, clicks=25)
    outputs = nbformat.read(path, as_version=4).cells[1].outputs
    kept = "\n\n".join(each["data"]["text/markdown"] for each in outputs if "text/markdown" in each.get("data", {}))
    clicks, sent = seen["clicks"], seen["iopub"]["bytes"]
    print(
        f"\n{kernel}: {len(CHUNKS)} chunks in {seen['seconds']:.1f} s; clicks handled in {median(clicks)} ms, "
        f"at most {max(clicks)}; {sent} bytes on iopub, {sent / SIZE:.2f} times the reply, "
        f"in {seen['iopub']['messages']} messages"
    )
    assert seen["while_streaming"], "the clicks came too late to mean anything"
    assert len(clicks) == 25
    assert median(clicks) < 200
    assert kept.strip() == TEXT.strip()
    assert sent <= 5 * SIZE  # the longer it takes, the more often it is painted; the bench has a free machine's figure
    assert seen["remote"] == []
