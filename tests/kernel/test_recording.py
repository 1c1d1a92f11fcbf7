"""A notebook that is recorded in one kernel and replayed in another: another kind, another home, nobody to ask."""

from __future__ import annotations

import sys

import pytest

from hermes_kernel.testing import Server, call, say
from tests.kernel.conftest import Kernel

ASKED = "How much is six times seven in the %s month?"


@pytest.fixture(scope="module")
def recorded(hermes, tmp_path_factory):
    """The recording of a turn with a call, and what its cell showed."""
    file = tmp_path_factory.mktemp("told") / "talk.cassette.jsonl"
    with Server([call("python", {"code": "6 * 7"}), say("It is **42**.")]) as server:
        hermes.ask_server(server)
        ran = hermes.run(f"%%hermes --no-cells --record {file}\n{ASKED % 'best'}")
        assert ran.status == "ok", ran.error
        assert len(server.requests) == 2
    return file, ran


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    kernel = Kernel("python3", sys.executable, tmp_path_factory.mktemp("elsewhere"))
    yield kernel
    kernel.close()


def test_another_kernel_says_the_same_and_tells_what_it_answers_from(recorded, elsewhere):
    file, before = recorded
    assert elsewhere.run("%hermes status").status == "ok"
    assert "recorded in    nothing" in elsewhere.run("%hermes record").text
    begun = elsewhere.run(f"%hermes replay {file}")
    assert begun.status == "ok", begun.error
    assert "not used yet           2 exchanges" in begun.text
    again = elsewhere.run(f"%%hermes --no-cells\n{ASKED % 'best'}", cell_id="one")
    assert again.status == "ok", again.error
    assert [again.shown(mime) for mime in ("text/plain", "text/markdown")] == [
        before.shown(mime) for mime in ("text/plain", "text/markdown")
    ]
    assert not again.of("update_display_data"), "nothing is updated, so that whoever compares sees what stays"
    assert elsewhere.value("_.messages[-1].text") == "'It is **42**.'"
    elsewhere.run("held = %hermes replay")
    assert elsewhere.value("(held.value.exchanges, held.value.unused, held.value.mode)") == "(2, (), 'replay')"
    assert f"replayed from {file} · 2 exchanges · 1 call" in elsewhere.run("%hermes status").text


def test_a_changed_word_is_said_in_the_error_of_the_cell(recorded, elsewhere):
    file, _ = recorded
    assert elsewhere.run(f"%hermes replay {file}").status == "ok"
    elsewhere.run("%hermes new")
    ran = elsewhere.run(f"%%hermes --no-cells\n{ASKED % 'worst'}")
    assert ran.status == "error"
    assert "[-best-]{+worst+}" in ran.error
    assert "Record it anew with `%hermes record on`" in ran.error
    assert "\n" not in ran.error
    differs = elsewhere.run("%hermes replay diff").text
    assert "message 1 (user):" in differs
    assert "[-best-]{+worst+}" in differs


def test_a_cell_replays_with_its_pauses_and_its_tools_and_then_all_is_as_before(recorded, hermes):
    file, _ = recorded
    with Server([say("Live.")]) as server:
        hermes.ask_server(server)
        asked = f"\n{ASKED % 'best'}"
        ran = hermes.run(f"%%hermes --no-cells --replay {file} --replay-gaps --replay-tools{asked}", cell_id="one")
        assert ran.status == "ok", ran.error
        assert "completed · replayed · 2 of 90 calls" in "".join(ran.shown("text/html"))
        assert not server.requests
        assert "Live." in hermes.run(f"%%hermes --no-cells{asked}").text
        assert len(server.requests) == 1


def test_on_is_a_file_beside_the_notebook_and_a_second_recording_of_it_begins_it_anew(hermes, tmp_path):
    assert "name the file: %hermes record FILE" in hermes.run("%hermes record on").error
    hermes.run(hermes.python(f"import os; os.environ['JPY_SESSION_NAME'] = {str(tmp_path / 'day.ipynb')!r}"))
    file = tmp_path / "day.cassette.jsonl"
    try:
        assert f"There is no recording {file}. `%hermes record on` makes one." in hermes.run("%hermes replay on").error
        file.write_text('{"cassette": 1}\nof before\n')
        assert "takes its place" in hermes.run("%hermes record on").text
        with Server([say("One."), say("Two.")]) as server:
            hermes.ask_server(server)
            hermes.run("%%hermes --no-cells\nOne?")
            assert "exchanges with models  1" in hermes.run("%hermes record").text
            assert "recorded in    nothing" in hermes.run("%hermes record off").text
            hermes.run("%%hermes --no-cells\nTwo?")
        kept = file.read_text()
        assert ("One?" in kept, "Two?" in kept, "of before" in kept) == (True, False, False)
        assert file.stat().st_mode & 0o077 == 0
    finally:
        hermes.run(hermes.python("del os.environ['JPY_SESSION_NAME']"))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%hermes spec on", "spec can be set only before the first turn. Set HERMES_SPEC and restart the kernel."),
        ("%hermes spec maybe", "spec takes on or off, not 'maybe'"),
        ("%hermes replay two words", "replay takes one word, not 'two words'"),
        ("%hermes replay nosuch.jsonl", "nosuch.jsonl. `%hermes record nosuch.jsonl` makes one."),
        ("%%hermes --replay nosuch.jsonl\nHi.", "There is no recording"),
        ("%%hermes --replay-gaps\nHi.", "--replay-gaps goes with --replay FILE"),
    ],
)
def test_a_mistake_is_one_line(recorded, hermes, code, said):
    ran = hermes.run(code)
    assert ran.status == "error"
    assert said in ran.error
    assert "\n" not in ran.error


def test_before_the_first_turn_clock_and_ids_are_fixed_and_the_agent_is_another(tmp_path):
    kernel = Kernel("hermes", sys.executable, tmp_path)
    try:
        before = kernel.value("hermes.session_id")
        assert "as they come" in kernel.run("%hermes spec").text
        (tmp_path / "bad.jsonl").write_text("[]\n")
        assert "bad.jsonl is no recording, by its line 1" in kernel.run("%hermes replay bad.jsonl").error
        assert kernel.value("(hermes.spec, hermes.recording, hermes.busy)") == "(False, None, False)"
        told = kernel.run("%hermes spec on").text
        assert "2026-01-01 00:00 UTC" in told
        assert kernel.value("(hermes.spec, hermes.now())") == "(True, 1767225600.0)"
        assert kernel.value("hermes.session_id") != before
        watches = "[t for t in __import__('threading').enumerate() if t.name == 'hermes-watch']"
        assert kernel.value(f"[(t.join(20), t.is_alive())[1] for t in {watches}]") in ("[False]", "[]"), "no job is run"
        assert "as they come" in kernel.run("%hermes spec off").text
    finally:
        kernel.close()


def test_a_checker_that_keeps_no_history_of_its_cells_is_answered_as_a_person_in_a_spec(recorded, tmp_path):
    kernel = Kernel("hermes", sys.executable, tmp_path)
    try:
        kernel.run("%hermes spec on", store_history=False)
        with Server([say("Seven.")]) as server:
            kernel.ask_server(server)
            assert kernel.run("%%py\nmagic = 'seven'", store_history=False).status == "ok"
            ran = kernel.run("Say it.", store_history=False)
            assert ran.status == "ok", ran.error
            assert "Seven." in ran.text
            assert "magic = 'seven'" in server.requests[0].messages[-1]["content"], "the cell that it ran before"
    finally:
        kernel.close()
