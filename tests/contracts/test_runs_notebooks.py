"""What a run's notebook is before it is executed, where it lies, and which of them stay. No kernel is started."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_output

from hermes_kernel.core.schedule.job import Parameter
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.ports import Work
from hermes_kernel.scheduling.running import notebook_path, shelf
from hermes_kernel.scheduling.running.composing import composed, options
from hermes_kernel.scheduling.running.nodes import written
from hermes_kernel.scheduling.running.parameters import assignments
from hermes_kernel.scheduling.running.saving import write
from hermes_kernel.scheduling.running.template import filled
from hermes_kernel.scheduling.wishes import NAME
from magics.hermes import CELL
from magics.options import parse
from tests.contracts.runs import DUE, job, parameters, template, work

NOWHERE = Path("/nowhere/2026-12-07T09-00-00.ipynb")


def of(given, missed=0):
    return composed(Work(given, "r", DUE, NOWHERE, missed), "every monday at 09:00 (Europe/Zurich)")


# --- a prompt's


def test_it_says_what_it_is_then_its_parameters_then_asks():
    made = of(job("What of $city?", parameters=parameters(city="Bern", week=48), budget=5, skills=("plots",)), missed=2)
    nbformat.validate(made)
    about, values, prompt = made.cells
    assert about.source.splitlines()[0] == "# brief"
    assert "every monday at 09:00 (Europe/Zurich)" in about.source
    assert "The run of Mon 7 Dec 2026 09:00 CET." in about.source
    assert "makes up for 2 earlier" in about.source
    assert "Run All" in about.source
    assert (values.metadata.tags, values.source) == (["parameters"], "%%py\ncity = 'Bern'\nweek = 48")
    assert prompt.source == "%%hermes --budget 5 --skill plots\nWhat of $city?"
    assert made.metadata.kernelspec.name == "hermes"


def test_the_same_job_and_instant_make_the_same_notebook():
    given = job("Hi.", parameters=parameters(a=1))
    assert written(of(given)) == written(of(given))
    assert [cell.id for cell in of(given).cells] == ["about", "parameters", "prompt"]
    assert [cell.id for cell in of(job("Hi.")).cells] == ["about", "prompt"]


def test_notebooks_are_read_without_the_grammars_that_no_notebook_asks_for(tmp_path):
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "a.ipynb")
    code = (
        "import sys; sys.modules['rfc3987'] = None\n"  # which would be taken in their place
        "from pathlib import Path; from hermes_kernel.scheduling.running.nodes import read\n"
        "read(Path(sys.argv[1])); assert 'rfc3987_syntax' not in sys.modules\n"
        "import rfc3987_syntax"  # whoever wants it later has it
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.ipynb")], check=True)


HOSTILE = [
    "%%py\nimport os",
    "%%bash\nrm -rf /",
    "!ls",
    "--budget 99 hello",
    "```\n%%hermes --model x\n```",
    "a\ud800b",
    "\x00",
    "?",
]


@pytest.mark.parametrize("prompt", HOSTILE)
def test_no_line_of_a_prompt_is_read_as_a_magic_or_an_option(prompt):
    first, _, rest = of(job(prompt)).cells[-1].source.partition("\n")
    assert first == "%%hermes"
    assert rest == prompt.replace("\ud800", "\ufffd")


def test_names_and_sentences_in_the_head_are_harmless():
    made = composed(Work(job("Hi.", name="<script>x</script>"), "r", DUE, NOWHERE), "<img src=x onerror=y>\n# more")
    assert "<script" not in made.cells[0].source
    assert "<img" not in made.cells[0].source
    assert "\n# more" not in made.cells[0].source


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "provider/some-model:free"}, {"model": 'my "own" model'}, {"model": "it's mine"}, {"model": "-x"},
        {"tools": ()}, {"tools": ("python", "terminal")}, {"budget": 7}, {"skills": ("a", "b")}, {"model": "a # b"},
    ],
)  # fmt: skip
def test_a_cell_reads_the_options_that_the_job_has(changes):
    given = job("Hi.", **changes)
    line = CELL.match(f"%%hermes {options(given)}")["line"]
    read = parse(line)
    assert (read.model or "", read.budget or 0, read.tools, read.skills) == (
        given.model,
        given.budget,
        given.tools,
        given.skills,
    )
    assert read.words == ""


@pytest.mark.parametrize("model", ["a\nb", "a\u2028b", "\"'", "a\x1bb"])
def test_an_option_that_cannot_stand_in_a_line_is_refused(model):
    with pytest.raises(HermesError, match="--model cannot be"):
        options(job("Hi.", model=model))


# --- parameters

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


@given(JSON)
def test_an_assignment_gives_the_value_back_in_one_line_whatever_it_is(value):
    line = assignments((Parameter("x", json.dumps(value)),))
    assert len(line.splitlines()) == 1
    names: dict[str, object] = {}
    exec(compile(line, "cell", "exec"), names)
    assert same(names["x"], value)
    assert len(ast.parse(line).body) == 1


@pytest.mark.parametrize(
    "name", ["", "a b", "1a", "class", "None", "__import__", "__builtins__", "a;b", "a\n", "a=1", "x.y"]
)
def test_what_is_no_name_of_a_variable_is_no_parameter(name):
    with pytest.raises(HermesError, match="cannot be the name of a parameter"):
        assignments((Parameter(name, "1"),))


@pytest.mark.parametrize("value", ["", "x", "'a'", "{", "[" * 100_000, "1" * 5000, "__import__('os')"])
def test_what_is_not_json_is_no_value(value):
    with pytest.raises(HermesError, match="is not JSON"):
        assignments((Parameter("x", value),))


# --- a notebook's


def cells(made):
    return [(cell.source, cell.metadata.get("tags")) for cell in made.cells if cell.cell_type == "code"]


def test_parameters_go_behind_those_of_the_notebook_or_on_top(tmp_path):
    path = template(tmp_path / "r.ipynb", "import x", "week = 1", "week", tags={1: "parameters"})
    made = filled(job(notebook=str(path), parameters=parameters(week=48, more=[1])))
    nbformat.validate(made)
    assert cells(made) == [
        ("import x", None), ("week = 1", ["parameters"]), ("week = 48\nmore = [1]", ["injected-parameters"]), ("week", None),
    ]  # fmt: skip
    path = template(tmp_path / "r.ipynb", "Say it.", kernel="hermes")
    made = filled(job(notebook=str(path), parameters=parameters(week=48)))
    assert made.cells[0].source == "%%py\nweek = 48"
    nbformat.write(made, path)
    again = filled(job(notebook=str(path), parameters=parameters(week=49)))
    assert cells(again) == [("%%py\nweek = 49", ["injected-parameters"]), ("Say it.", None)]


def test_outputs_of_before_are_left_out_and_cells_have_the_same_ids_in_every_copy(tmp_path):
    path = template(tmp_path / "r.ipynb")
    old = nbformat.read(path, as_version=4)
    old.cells.append(new_code_cell("1", execution_count=3, outputs=[new_output("stream", text="secret")]))
    old.metadata["widgets"] = {"big": 1}
    for cell in old.cells:
        del cell["id"]
    old.nbformat_minor = 4
    path.write_text(json.dumps(old))
    made = filled(job(notebook=str(path)))
    nbformat.validate(made)
    assert (made.cells[-1].outputs, made.cells[-1].execution_count, "widgets" in made.metadata) == ([], None, False)
    assert written(made) == written(filled(job(notebook=str(path))))


def test_parameters_are_given_to_python_only(tmp_path):
    path = template(tmp_path / "r.ipynb", "x <- 1", kernel="ir")
    path.write_text(path.read_text().replace('"language": "python"', '"language": "R"'))
    with pytest.raises(HermesError, match="Python notebooks only"):
        filled(job(notebook=str(path), parameters=parameters(x=1)))
    assert filled(job(notebook=str(path))).cells[-1].source == "x <- 1"


DAMAGED = [
    b"", b"not json", b"[]", b"3", b"{}", b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}', b"\xff\xfe", b"[" * 200_000,
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}',
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": [], "cells": []}',
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": 3, "metadata": {}}]}',
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": "", "metadata": "x"}]}',
    b'{"nbformat": 4, "nbformat_minor": "x", "metadata": {}, "cells": []}', b'{"nbformat": 99}', b'{"nbformat": "4"}',
]  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_notebook_is_refused_in_a_line(tmp_path, content):
    path = tmp_path / "r.ipynb"
    path.write_bytes(content)
    with pytest.raises(HermesError, match="damaged") as refused:
        filled(job(notebook=str(path), parameters=parameters(x=1)))
    assert "\n" not in str(refused.value)


def test_a_notebook_that_is_missing_too_large_or_no_file_is_refused(tmp_path):
    path = tmp_path / "r.ipynb"
    with pytest.raises(HermesError, match="there is no notebook"):
        filled(job(notebook=str(path)))
    with path.open("wb") as file:
        file.truncate(101 * 2**20)
    with pytest.raises(HermesError, match="104,857,600 bytes"):
        filled(job(notebook=str(path)))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(HermesError, match="cannot be read"):
        filled(job(notebook=str(path)))


# --- where


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path.name


def test_it_is_named_for_its_instant_in_the_zone_of_the_job_and_never_for_one_that_is_there(tmp_path):
    autumn = 1_792_888_200.0  # 25 October 2026 00:30 UTC: 02:30 in Zurich, and so again an hour later
    names = [touch(notebook_path(tmp_path, job("x"), autumn + 3600 * n)) for n in (0, 1, 1)]
    assert names == ["2026-10-25T02-30-00.ipynb", "2026-10-25T02-30-00-2.ipynb", "2026-10-25T02-30-00-3.ipynb"]
    link = notebook_path(tmp_path, job("x"), DUE)
    link.symlink_to(tmp_path / "gone")
    assert notebook_path(tmp_path, job("x"), DUE) != link
    assert notebook_path(tmp_path, job("x", zone="No/Where"), DUE).name == "2026-12-07T08-00-00.ipynb"


@given(st.text("abz09-", max_size=42))
def test_every_name_that_a_job_may_have_is_one_of_a_folder(name):
    if NAME.fullmatch(name):
        assert notebook_path(Path("/nowhere"), job("x", name=name), DUE).parent.name == name


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "A", "a b", "a\n", ".a", "a" * 101, "-a", "é"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    with pytest.raises(HermesError, match="no name of a job"):
        notebook_path(tmp_path, job("x", name=name), DUE)


def test_the_last_ones_stay_and_nothing_else_is_touched(tmp_path):
    folder = tmp_path / "runs/brief"
    made = [touch(notebook_path(tmp_path, job("x"), DUE + 60 * (n // 2))) for n in range(8)]
    others = ["notes.ipynb", "2026-12-07T09-00-00.ipynb.bak", "2026-12-07T09-00-00-x.ipynb", "data.csv"]
    theirs = ["2026-11-02T09-00-00.ipynb", "2026-11-09T09-00-00.ipynb", ".2026-11-09T09-00-00.ipynb.78"]
    for name in (*others, *theirs, ".2026-12-07T09-00-00.ipynb.77"):
        touch(folder / name)
    (folder / "2020-01-01T00-00-00.ipynb").symlink_to(folder / "data.csv")
    (folder / "2020-01-02T00-00-00.ipynb").mkdir()
    shelf.keep(folder, 3, folder / made[-1], lambda _: made)
    left = {each.name for each in folder.iterdir()}
    assert left == {*made[-3:], *others, *theirs, "2020-01-01T00-00-00.ipynb", "2020-01-02T00-00-00.ipynb"}
    shelf.keep(folder, 0, folder / made[-1], lambda _: made)
    assert made[-1] in {each.name for each in folder.iterdir()}


def test_nothing_is_removed_behind_a_link(tmp_path):
    (tmp_path / "theirs").mkdir()
    for n in range(3):
        touch(tmp_path / "theirs" / f"2026-12-0{n + 1}T09-00-00.ipynb")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/brief").symlink_to(tmp_path / "theirs")
    shelf.keep(tmp_path / "runs/brief", 1, Path("x.ipynb"), lambda _: [f"2026-12-0{n}T09-00-00.ipynb" for n in (1, 2)])
    assert len(list((tmp_path / "theirs").iterdir())) == 3
    with pytest.raises(HermesError, match="is a link"):
        shelf.prepare(tmp_path / "runs/brief")


def test_a_notebook_that_cannot_be_written_leaves_the_one_before(tmp_path):
    done = work(tmp_path, job("Hi."))
    shelf.prepare(done.notebook.parent)
    write(of(job("Hi.")), done.notebook)
    before = done.notebook.read_bytes()
    (done.notebook.parent / f".{done.notebook.name}.{os.getpid()}").mkdir()
    with pytest.raises(OSError, match="directory"):
        write(of(job("Ho.")), done.notebook)
    assert done.notebook.read_bytes() == before
