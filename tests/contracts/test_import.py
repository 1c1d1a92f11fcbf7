"""A ``state.db`` that the original Hermes Agent 0.19.0 wrote is imported completely, from its file or its export."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from hermes_kernel import Agent
from hermes_kernel.core import prompts
from hermes_kernel.core.messages import Assistant, Image, Observation, User
from hermes_kernel.core.turn import closing, recall
from hermes_kernel.testing import ScriptedModel, say
from hermes_kernel.world.importing.turns import UNASKED
from tests.contracts.originals import asked, bring, original, resumed, seen
from tests.laws.worlds import check_whole

STANDING = "(active = 1 OR compacted = 1)"
SECRET = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
HIDDEN = "[redacted: API key]"


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    return original(tmp_path_factory.mktemp("original"))


@pytest.fixture(scope="module")
def home(there, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    bring(home, there)
    return home


def words(content):
    """The words of a content, as a person would read them."""
    if content is None:
        return ""
    if not content.startswith("\0json:"):
        return content.replace(SECRET, HIDDEN)
    notes = {"image_url": "", "input_audio": "[input_audio is not kept]"}
    parts = json.loads(content.removeprefix("\0json:"))
    told = [part.get("text", notes.get(part["type"])) for part in parts]
    told[2:3] = ["[image: https://example.org/horse.png]"] if len(parts) == 4 else told[2:3]
    return "\n".join(filter(None, told))


def test_every_session_is_there_with_its_parent_title_model_and_beginning(there, home):
    told = asked(
        there / "state.db",
        "SELECT id, coalesce(parent_session_id, ''), coalesce(model, ''), coalesce(title, ''), started_at"
        " FROM sessions ORDER BY id",
    )
    ours = seen(
        home,
        "SELECT s.id, parent, s.model, coalesce(t.title, ''), epoch(started) FROM sessions s LEFT JOIN "
        "(SELECT session, body->>'title' AS title FROM facts WHERE kind = 'Titled') t ON t.session = s.id ORDER BY s.id",
    )
    assert len(told) == 15
    assert [row[:4] for row in ours] == [row[:4] for row in told]
    assert [row[4] for row in ours] == pytest.approx([row[4] for row in told], abs=1e-5)


def test_every_message_is_there_word_for_word(there, home):
    rows = asked(
        there / "state.db",
        f"SELECT session_id, role, content, tool_calls FROM messages WHERE {STANDING} AND role <> 'session_meta'",
    )
    told = Counter(
        (session, "user" if role == "system" else role, words(content))
        for session, role, content, calls in rows
        if content or calls
    )
    ours = Counter(seen(home, "SELECT session, role, text FROM messages"))
    halves = {("20260103_080000_eeee01", "assistant", text) for text in ("Half an answer", "and the other half.")}
    assert set(told - ours) == halves
    assert {text for _, _, text in ours - told} == {
        "Half an answer\n\nand the other half.",  # one reply in two pieces
        prompts.LOST,
        UNASKED,
    }


def test_messages_keep_their_times(there, home):
    told = asked(there / "state.db", f"SELECT session_id, content, timestamp FROM messages WHERE {STANDING}")
    ours: dict[tuple[str, str], list[float]] = {}
    for session, text, at in seen(home, "SELECT session, text, epoch(time) FROM messages"):
        ours.setdefault((session, text), []).append(at)
    compared = 0
    for session, content, timestamp in told:
        times = ours.get((session, content), [])
        if len(times) == 1 and not session.endswith("cccc01"):  # there the clock was set back, and ours is not
            compared += 1
            assert times[0] == pytest.approx(timestamp, abs=1e-5)
    assert compared > 80


def test_every_tool_call_is_there_with_its_result(there, home):
    told = Counter()
    for session, calls in asked(
        there / "state.db", "SELECT session_id, tool_calls FROM messages WHERE tool_calls IS NOT NULL"
    ):
        for call in json.loads(calls):
            arguments = call["function"]["arguments"].replace(SECRET, HIDDEN)
            told[session, call["id"], call["function"]["name"], arguments] += 1
    assert Counter(seen(home, "SELECT session, id, name, arguments FROM tool_calls")) == told
    assert told.total() == 24
    (failed,) = seen(home, "SELECT id, result FROM tool_calls WHERE NOT ok AND result LIKE '%no such file%'")
    assert failed[0] == "call_c"


def test_what_a_session_spent_is_counted_once_and_called_an_estimate(there, home):
    told = asked(
        there / "state.db",
        "SELECT id, input_tokens + cache_read_tokens + cache_write_tokens + output_tokens AS tokens,"
        " coalesce(actual_cost_usd, estimated_cost_usd, 0) FROM sessions WHERE tokens > 0 ORDER BY id",
    )
    ours = seen(home, "SELECT id, tokens, cost FROM sessions WHERE tokens > 0 ORDER BY id")
    assert [row[:2] for row in ours] == [row[:2] for row in told]
    assert [row[2] for row in ours] == pytest.approx([row[2] for row in told])
    assert seen(home, "SELECT DISTINCT estimated FROM calls") == [(True,)]
    ((models,),) = seen(home, "SELECT list(DISTINCT model) FROM calls WHERE session = '20260104_100000_1234ab'")
    assert models == [""], "which of its two models said what is not known"


def test_subagents_and_scheduled_sessions_are_told_apart(home):
    kinds = dict(seen(home, "SELECT kind, count(*) FROM sessions GROUP BY kind"))
    assert kinds == {"chat": 13, "subagent": 1, "cron": 1}


def test_a_secret_is_not_in_the_store(home):
    assert seen(home, f"SELECT count(*) FROM facts WHERE body::VARCHAR LIKE '%{SECRET[:14]}%'") == [(0,)]
    assert seen(home, "SELECT count(*) FROM messages WHERE text LIKE '%[redacted: API key]%'") == [(2,)]


def test_what_the_person_took_back_is_not_in_the_conversation(home):
    assert [message.text for message in resumed(home, "20260102_090000_dddd01").transcript] == [
        "First, which stays",
        "Stays.",
        "Second, better",
    ]
    assert seen(home, "SELECT count(*) FROM messages WHERE text LIKE '%egret%'") == [(0,)]
    assert seen(home, "SELECT count(*) FROM facts WHERE body->>'text' LIKE '%egret%'") == [(5,)]


def test_a_compacted_conversation_goes_on_from_its_summary_and_its_past_can_still_be_read(home):
    texts = [message.text for message in resumed(home, "20260102_080000_cccc01").transcript]
    assert texts[1].startswith("[CONTEXT COMPACTION")
    assert texts[2:4] == ["Old question 5 about giraffes", "Old answer 5 about giraffes"]
    assert texts[-1] == "Zebras are striped."
    assert seen(home, "SELECT count(*) FROM messages WHERE text = 'Old question 0 about giraffes'") == [(1,)]


def test_pictures_stay_pictures(home):
    first = resumed(home, "20260103_090000_ffff01").transcript[0]
    assert isinstance(first, User)
    assert [image.mime for image in first.images] == ["image/png"]
    assert isinstance(first.images[0], Image)


def test_every_conversation_is_one_that_a_model_takes(home):
    for (session,) in seen(home, "SELECT id FROM sessions"):
        turn = resumed(home, session)
        check_whole(recall(closing(turn, "kernel"), turn).transcript)


async def test_an_agent_goes_on_with_an_imported_session(there, tmp_path):
    home = tmp_path / "home"
    bring(home, there)
    model = ScriptedModel([say("You asked me to make it.")])
    agent = Agent(model, [], home=home, session="20260103_080000_eeee01")
    turn = await agent.ask("What was I doing?")
    agent.close()
    assert turn.outcome == "completed"
    check_whole(turn.transcript)
    results = {m.call_id: m for m in turn.transcript if isinstance(m, Observation)}
    assert results["call_1"].text == prompts.LOST
    assert not results["call_5"].ok
    assert "may have had effects" in results["call_5"].text
    assert any(isinstance(m, Assistant) and m.text.startswith("Half an answer") for m in turn.transcript)


def test_the_export_of_the_original_is_imported_as_well(there, tmp_path):
    brought = bring(tmp_path, there / "export.jsonl")
    live = asked(there / "state.db", "SELECT count(*) FROM messages WHERE active = 1 AND role <> 'session_meta'")
    assert brought.sessions == 15
    assert brought.messages == live[0][0]
    assert brought.titles == 5


def test_the_files_of_the_original_are_left_as_they_are(there, tmp_path):
    before = {path.name: path.read_bytes() for path in there.iterdir() if path.suffix != ".db-shm"}
    bring(tmp_path, there / "state.db")
    assert {path.name: path.read_bytes() for path in there.iterdir() if path.suffix != ".db-shm"} == before


def test_a_file_at_rest_gets_no_company(there, tmp_path):
    folder = tmp_path / "at rest"
    folder.mkdir()
    (folder / "state.db").write_bytes((there / "state.db").read_bytes())
    brought = bring(tmp_path / "home", folder)
    assert [path.name for path in folder.iterdir()] == ["state.db"]
    assert brought.sessions > 8
