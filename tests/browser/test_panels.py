"""Every panel of a command in JupyterLab: axe-core finds nothing serious, and nothing sticks out at 400 or at 1,400 pixels."""

from __future__ import annotations

import nbformat

from hermes_kernel.testing import Server, forever, say
from tests.browser.homes import Said, furnish
from tests.browser.lab import KERNELS, MARKS
from tests.browser.test_static import exported

pytestmark = MARKS

PANELS = ("skills", "sessions", "memory", "jobs", "runs", "loops", "budget", "usage", "timeline", "curator")
VIEW = "application/vnd.jupyter.widget-view+json"
WORDY = Said(
    titles=("Which ducks sold best in the months of spring, and to whom, and why then and there", "Bread"),
    answer="The **mallards**, by far.\n\n| month | ducks |\n|---|---|\n| March | 31 |\n\n```python\n"
    + "x = 1; " * 30
    + "\n```",
)


def test_each_panel_is_accessible_and_fits_where_there_is_little_room(lab, tmp_path):
    kernel, home = KERNELS[0], tmp_path / "home"
    furnish(home, WORDY)
    with Server(forever(say("Thirty-one **ducks**, in March."))) as server:
        cells = [kernel.ask("Which month sold best?"), *(f"%hermes {name}" for name in PANELS)]
        path = lab.notebook("panels", kernel, server.url, cells, home=home)
        seen = lab.drive("panels.mjs", path, cells=PANELS)
    assert seen["plain"] == [], "these opened no panel"
    assert seen["axe"] == {}
    assert seen["wide"] == {}
    assert seen["unforced"] == {}, "words in pictures that cannot be read in the colours a person forced upon all pages"
    assert seen["broken"] == {}, "words or figures at the head or in a column of figures that go on in the next line"
    assert seen["hacked"] == seen["dialogs"] == seen["remote"] == []
    for name, text in seen["later"].items():  # in a notebook that was saved while they were open
        assert text.strip(), f"{name} left nothing"
        assert "widget" not in text, name
    page = exported(path)
    assert VIEW not in page
    assert "weekly-ducks" in page
    for cell in nbformat.read(path, as_version=4).cells[2:]:
        data, widgets = (each["data"] for each in cell.outputs)
        assert VIEW in widgets, cell.source
        assert data["text/plain"].strip(), f"{cell.source}: a terminal and GitHub have nothing to show"
        assert "<script" not in data["text/html"], cell.source
        assert len(data["text/html"]) > 20, cell.source
