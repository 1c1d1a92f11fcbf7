"""Every notebook, exported to HTML and opened where no script runs: what a panel was is there to read."""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert import HTMLExporter

from tests.browser.lab import HERE, MARKS, ROOT, SHOTS

pytestmark = MARKS

VOID = {"br", "hr", "img", "input", "meta", "link", "col", "wbr"}
VIEW = "application/vnd.jupyter.widget-view+json"
BOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def exported(book) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nbconvert's own parts
        page, _ = HTMLExporter(template_name="lab").from_filename(str(book))
    return page


class Visible(HTMLParser):
    """The text of a document that is there before anything is opened, without the spaces."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self._within: list[str] = []
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        self._within += [] if tag in VOID else ["open" if tag == "details" and "open" in dict(attrs) else tag]

    def handle_endtag(self, tag):
        while self._within and tag not in VOID and self._within.pop() not in {tag, "open"}:
            pass

    def handle_data(self, data):
        closed = [at for at, tag in enumerate(self._within) if tag == "details"]
        hidden = any(self._within[at + 1 : at + 2] != ["summary"] for at in closed)
        if not hidden and not {"style", "title"} & {*self._within}:
            self.text += "".join(data.split())


def documents(cell) -> list[dict[str, str]]:
    """The outputs of a cell that have HTML."""
    return [data for each in cell.outputs if "text/html" in (data := each.get("data", {}))]


@pytest.fixture(scope="module")
def opened(lab, tmp_path_factory):
    """What is seen of each notebook's outputs, by its name."""
    folder = tmp_path_factory.mktemp("exported")
    for book in BOOKS:
        (folder / f"{book.stem}.html").write_text(exported(book), encoding="utf-8")
    shots = SHOTS / "static"
    shots.mkdir(parents=True, exist_ok=True)
    command = ["node", str(HERE / "static.mjs"), str(folder), str(shots)]
    ours = os.environ | {"HERMES_BROWSER": lab.browser}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=ours)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_what_a_panel_was_is_read_without_scripts(opened, book):
    seen = opened[f"{book.stem}.html"]
    assert seen["remote"] == []
    cells = [cell for cell in nbformat.read(book, as_version=4).cells if cell.cell_type == "code"]
    assert len(cells) == len(seen["cells"])
    for cell, outputs in zip(cells, seen["cells"], strict=True):
        shown = "".join("".join(each["text"] for each in outputs).split())
        assert "Loadingwidget" not in shown
        assert not any(each["scripts"] for each in outputs), cell.source
        for data in documents(cell):
            assert VIEW not in data, cell.source
            assert Visible(data["text/html"]).text in shown, cell.source


def test_there_are_panels_and_tables_in_the_notebooks():
    cells = [cell for book in BOOKS for cell in nbformat.read(book, as_version=4).cells if cell.cell_type == "code"]
    assert sum(len(documents(cell)) for cell in cells) > 25
