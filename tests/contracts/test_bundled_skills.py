"""The skills that come with the package: valid, short, harmless, and their code does what they say it does."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import nbformat
import numpy as np
import pandas as pd
import pytest
import skills_ref

import hermes_kernel
from hermes_kernel.core.learning.threats import threats

mpl.use("Agg")

BUNDLED = Path(hermes_kernel.__file__).parent / "skills"
NAMES = ("cleaning-a-table", "exploring-a-dataset", "notebook-as-spec", "plotting-well", "profiling-slow-code")
FILES = sorted(BUNDLED.rglob("*.md"))
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINES = 120


def blocks(name: str, file: str = "SKILL.md") -> list[str]:
    """The code of a skill, in order."""
    return CODE.findall((BUNDLED / name / file).read_text(encoding="utf-8"))


def run(code: list[str], **names: object) -> dict[str, object]:
    """What is there after the code of a skill ran, cell after cell, where `names` were there before."""
    for block in code:
        exec(compile(block, "<skill>", "exec"), names)
    return names


@pytest.fixture
def sales() -> pd.DataFrame:
    """A table as people have them: spaces, stand-ins, numbers as text, a row that is there twice."""
    table = pd.DataFrame(
        {
            "day": pd.date_range("2026-03-01", periods=6).astype(str),
            "region": ["North", "north ", "South", "West", "N/A", "South"],
            "product": ["tea", "tea", "coffee", "tea", "mugs", "coffee"],
            "units": [1, 2, 3, 4, 5, 6],
            "revenue": ["1,200.50", "3", "unknown", "5", "7", "€ 11"],
        }
    )
    return pd.concat([table, table.iloc[[3]]], ignore_index=True)


@pytest.fixture
def clean_sales(sales: pd.DataFrame) -> pd.DataFrame:
    """The same as numbers and dates."""
    return sales.assign(revenue=np.arange(len(sales)) + 10.0, day=pd.to_datetime(sales["day"])).drop_duplicates()


def test_they_are_there():
    assert tuple(sorted(path.name for path in BUNDLED.iterdir() if path.is_dir())) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_validator_has_nothing_to_say(name):
    assert skills_ref.validate(BUNDLED / name) == []
    assert len(skills_ref.read_properties(BUNDLED / name).description) < 300


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(BUNDLED)))
def test_it_is_short_and_harmless_and_its_code_compiles(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    assert threats(text) == ()
    for block in CODE.findall(text):
        compile(block, str(file), "exec")


@pytest.mark.parametrize("name", NAMES)
def test_it_names_pitfalls_and_ends_with_a_check_and_names_only_files_it_has(name):
    text = (BUNDLED / name / "SKILL.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[-2:] == ["Pitfalls", "Check"]
    for named in re.findall(r"`((?:references|scripts|assets)/[^`]+)`", text):
        assert (BUNDLED / name / named).is_file()


def test_exploring_finds_what_is_odd_and_leaves_the_table_alone(sales, capsys):
    before = sales.copy()
    run(blocks("exploring-a-dataset"), df=sales)
    out = capsys.readouterr().out
    assert "7 rows, 1 of them twice" in out
    assert "region: 0% are numbers, 1 differ only by case or spaces" in out
    pd.testing.assert_frame_equal(sales, before)


def test_exploring_works_on_an_empty_table(capsys):
    run(blocks("exploring-a-dataset"), df=pd.DataFrame({"a": pd.Series(dtype=float), "b": pd.Series(dtype=str)}))
    assert "0 rows" in capsys.readouterr().out


def test_cleaning_works_on_a_copy_and_names_what_it_could_not_read(sales, capsys):
    before = sales.copy()
    first, missing, numbers, dates, *rest = blocks("cleaning-a-table")
    names = run([first, missing, numbers, dates], df=sales)
    clean = names["clean"]
    assert clean["region"].tolist()[:2] == ["North", "north"]
    assert clean["region"].isna().sum() == clean["revenue"].isna().sum() == 1
    assert "7 rows, now 6" in capsys.readouterr().out
    read = names["numbers"](sales["revenue"])
    assert read.dropna().tolist() == [1200.5, 3.0, 5.0, 7.0, 11.0, 5.0]
    assert "6 read, 1 not: ['unknown']" in capsys.readouterr().out
    assert names["dates"](pd.Series(["2026-03-01", "soon"], name="day")).notna().tolist() == [True, False]
    assert "1 not read: ['soon']" in capsys.readouterr().out
    run(rest, **names)
    assert "rows: 7 -> 6" in capsys.readouterr().out
    pd.testing.assert_frame_equal(sales, before)


def test_plotting_draws_bars_from_zero_with_a_title_that_the_data_bear_out(clean_sales):
    names = run(blocks("plotting-well"), df=clean_sales)
    ax = names["ax"]
    assert ax.get_title() == f"{names['shown'].idxmax()} sells the most"
    assert ax.get_xlim()[0] == 0


def test_every_form_of_plot_can_be_drawn(clean_sales):
    run(blocks("plotting-well", "references/forms.md"), df=clean_sales)
    many = pd.DataFrame({"units": np.arange(6_000), "revenue": np.arange(6_000.0)})
    run(
        [block for block in blocks("plotting-well", "references/forms.md") if "hexbin" in block or "import" in block],
        df=many,
    )


def test_profiling_compares_results_before_it_speaks_of_times(capsys):
    slow = {"work": sorted, "given": list(range(1_000)), "faster": list}
    names = run(blocks("profiling-slow-code"), **slow)
    out = capsys.readouterr().out
    assert "function calls" in out
    assert "times as fast" in out
    with pytest.raises(AssertionError, match="differ"):
        run(blocks("profiling-slow-code")[-1:], **{**names, "faster": len})


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (pd.DataFrame({"a": [1]}, index=[5]), pd.DataFrame({"a": [1]}), True),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]}), False),
        (np.array([0.1 + 0.2, np.nan]), np.array([0.3, np.nan]), True),
        (0.3, 0.4, False),
        (["a"], ["a"], True),
    ],
)
def test_profiling_knows_when_two_results_are_the_same(one, other, alike):
    same = run([block for block in blocks("profiling-slow-code") if "def same" in block])["same"]
    assert bool(same(one, other)) is alike


def test_a_spec_is_a_notebook_that_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run(blocks("notebook-as-spec"))
    assert names["ran"].returncode == 0, names["ran"].stderr
    ran = nbformat.read(tmp_path / "prices-run.ipynb", as_version=4)
    assert [cell.outputs[0].text for cell in ran.cells if cell.cell_type == "code" and cell.outputs] == ["0\n", "27\n"]
    assert names["refused"](int, "x").startswith("ValueError")
    with pytest.raises(AssertionError, match="not refused"):
        names["refused"](int, "1")
