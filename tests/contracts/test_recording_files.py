"""Which file is meant by a recording, in a cell and in a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_kernel.errors import HermesError
from hermes_kernel.settings import Settings
from magics.cassettes import cassette, wished
from magics.options import Options, parse


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


def test_a_file_is_one_of_the_working_folder(tmp_path):
    assert cassette("week.jsonl", "") == str(tmp_path / "week.jsonl")
    assert cassette("/elsewhere/week.jsonl", "") == "/elsewhere/week.jsonl"
    assert cassette("~/week.jsonl", "") == str(Path("~/week.jsonl").expanduser())


@pytest.mark.parametrize("name", ["", "console-1-8d1b", "work/console-1-8d1b"])
def test_where_no_notebook_is_known_a_file_is_asked_for(monkeypatch, name):
    monkeypatch.setenv("JPY_SESSION_NAME", name)
    with pytest.raises(HermesError, match=r"name the file: %hermes record FILE\."):
        cassette("on", "%hermes record")


@pytest.mark.parametrize("name", ["{here}/sales.ipynb", "sales.ipynb", "{here}/sales.md"])
def test_on_is_the_one_beside_the_notebook(tmp_path, monkeypatch, name):
    monkeypatch.setenv("JPY_SESSION_NAME", name.format(here=tmp_path))
    assert cassette("on", "") == str(tmp_path / "sales.cassette.jsonl")


def test_the_options_of_a_cell_are_settings_for_it(tmp_path):
    settings = Settings(home=tmp_path)
    assert wished(Options(), settings) == {}
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    how = {"replay_gaps": True, "replay_tools": True}
    assert wished(parse("--record a --replay b --replay-gaps --replay-tools"), settings) == {
        "record": a,
        "replay": b,
        **how,
    }
    assert wished(parse("--replay-tools"), settings.with_(replay="kept.jsonl")) == {"replay_tools": True}
    for gaps in ("--record a", "--record a --replay a"):
        assert wished(parse(f"--model m {gaps}"), settings)["model"] == "m"
    assert wished(parse("--model m --replay a"), settings) == {"replay": a}, "the recording says which model it was"
    with pytest.raises(HermesError, match=r"--replay-gaps goes with --replay FILE, or with `%hermes replay on`"):
        wished(parse("--replay-gaps"), settings)
