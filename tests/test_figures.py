"""The pages say of speed what the file of figures says, and what measures it still does."""

from __future__ import annotations

import ast
import itertools
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench import written
from tests.bench.contenders import CONTENDERS, HERE, PEERS
from tests.bench.growth import drawn
from tests.bench.rows import BARE, FLOOR, OURS, Row, medians

PAGES = (written.PAGE, written.FRONT)
FILES = [HERE / f"{contender.file}.py" for contender in CONTENDERS.values()]
LINE = Row("the loop", "CPU per iteration, 50 iterations", "ms", {OURS: 3.0, BARE: 12.0}, 4.0)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_says_what_the_file_of_figures_says(page):
    text = page.read_text(encoding="utf-8")
    assert written.MARKED.search(text)
    assert written.filled(text, written.tables(written.kept())) == text, "python -m tests.bench --write renews them"


def test_every_group_of_figures_is_on_their_page():
    names = {found["name"] for found in written.MARKED.finditer(written.PAGE.read_text(encoding="utf-8"))}
    assert names == set(written.tables(written.kept())) | set(bench.MODULES)


def test_the_picture_is_that_of_the_figures_and_runs_nothing():
    picture = written.PICTURE.read_text(encoding="utf-8")
    assert picture == drawn(written.kept()["growth"])
    assert {element.tag.rpartition("}")[2] for element in ET.fromstring(picture).iter()} == {
        "svg", "title", "path", "text", "circle",
    }  # fmt: skip


def test_names_beside_curves_that_end_together_are_not_upon_each_other():
    curves = {f"contender {n}": [(10, 5.0 + n / 1e3), (100, 5.0 + n / 1e3)] for n in range(8)}
    root = ET.fromstring(drawn(curves))
    places = sorted(float(each.get("y", 0)) for each in root.iter() if (each.text or "").startswith("contender"))
    assert len(places) == 8
    assert all(after - before >= 12 for before, after in itertools.pairwise(places))


def imported(file: Path) -> set[str]:
    """The packages that a file asks for."""
    found = set[str]()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_contender_is_named_on_the_page_and_imports_ours_only_if_it_is(file):
    assert f"](../tests/bench/peers/{file.name})" in written.PAGE.read_text(encoding="utf-8")
    assert bool(imported(file) & {"hermes_kernel", "magics", "tests"}) == (file.stem == "ours")


def test_what_measures_in_the_environment_of_a_peer_needs_nothing_but_python():
    assert imported(HERE / "playing.py") <= sys.stdlib_module_names


def test_every_peer_says_which_version_it_is():
    assert set(PEERS) <= {*written.versions(), "pydantic-ai"}
    assert "pydantic-ai-slim" in written.versions()


def test_one_command_measures_the_loop_and_tells_it_as_a_table():
    told: list[str] = []
    few = ["--rounds", "1", "--only", "the loop", "--contenders", OURS, FLOOR, "--iterations", "2", "3"]
    bench.main(few, told.append)
    page = "\n".join(told)
    assert "| measured | ours | httpx + json | bar | met |" in page
    assert "| CPU per iteration, 3 iterations |" in page
    assert "| import and the first answer, CPU |" in page


def test_peers_are_measured_without_ours():
    told: list[str] = []
    bench.main(["--rounds", "1", "--only", "the loop", "--contenders", FLOOR, "--iterations", "2", "3"], told.append)
    page = "\n".join(told)
    assert "| measured | httpx + json | bar | met |" in page
    assert "| held to a bar | ours |" not in page


@pytest.mark.parametrize("number", ["0", "-1", "many", "0.5"])
def test_what_cannot_be_counted_is_refused_before_anything_is_measured(number, capsys):
    with pytest.raises(SystemExit):
        bench.asked(["--rounds", number])
    assert f"{number} is not a whole number of 1 or more" in capsys.readouterr().err


def test_a_bar_is_met_or_not_or_is_none_of_a_number():
    assert LINE.met
    assert LINE._replace(bar=2.9).met is False
    assert LINE._replace(bar="as its disk").met is None
    assert LINE._replace(values={OURS: None}).met is None
    assert "| ≤ 2.9 ms | **no** |" in written.bars([LINE._replace(bar=2.9)])


def test_what_two_modules_measured_of_different_contenders_is_one_line():
    theirs = LINE._replace(values={"langgraph": 30.0, "smolagents": None}, bar=None, note="smolagents: no")
    assert written.merged([LINE, theirs]) == [
        LINE._replace(values={OURS: 3.0, BARE: 12.0, "langgraph": 30.0, "smolagents": None}, note="smolagents: no")
    ]
    assert "30 ms (langgraph)" in written.glance(written.merged([LINE, theirs]))


def test_groups_that_were_not_measured_keep_their_figures():
    other = Row("stops", "interrupt", "s", {OURS: 0.01234})
    file = written.renewed({"rows": [], "rounds": {}, "growth": {OURS: [[10, 3.0]]}}, [LINE, other], {}, 5)
    again = written.renewed(file, [LINE._replace(values={OURS: 2.0})], {}, 2)
    assert [row.values for row in written.rows(again)] == [{OURS: 2.0}, {OURS: 0.0123}]
    assert again["rounds"] == {"the loop": 2, "stops": 5}
    assert again["growth"] == {OURS: [[10, 3.0]]}


def test_contenders_take_turns_and_who_could_not_once_is_asked_no_more():
    asked: list[str] = []

    def measure(name: str) -> float | None:
        asked.append(name)
        return None if name == BARE else float(len(asked))

    assert medians(3, (OURS, BARE, FLOOR), measure) == {OURS: 4.0, BARE: None, FLOOR: 5.0}
    assert asked == [OURS, BARE, FLOOR, OURS, FLOOR, OURS, FLOOR]
