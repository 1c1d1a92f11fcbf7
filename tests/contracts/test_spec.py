"""What an agent stands on in a spec: a home that is thrown away, a still clock, counted ids, and nothing of a person's."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, HermesError
from hermes_kernel.core.events import Observed
from hermes_kernel.core.learnt import LookDue
from hermes_kernel.learning.skills.asked import shown
from hermes_kernel.settings import Settings, SettingsError
from hermes_kernel.testing import ScriptedModel, Step, call, forever, say
from hermes_kernel.world.spec import START
from hermes_kernel.world.store import Store

FIRST = "00018857a128fe69b49792e563135c57"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's folder, with a home in it that has something of theirs."""
    folder = tmp_path / "person"
    (folder / ".hermes/memories").mkdir(parents=True)
    (folder / ".hermes/memories/MEMORY.md").write_text("They like tables.", encoding="utf-8")
    (folder / ".hermes/kernel.toml").write_text('model = "theirs"\nmax_iterations = 7\n', encoding="utf-8")
    for name in [name for name in os.environ if name.startswith(("HERMES_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def everything(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", state.st_mtime_ns, state.st_mode)
        for path in sorted(folder.rglob("*"))
        if (state := path.stat())
    }


def remembers(asked: Any) -> Step:
    adds = {"action": "add", "target": "memory", "content": "The answer is 42."}
    return say("Done.") if asked.transcript[-1].__class__.__name__ == "Observation" else call("memory", adds)


async def test_nothing_of_a_person_s_goes_in_or_out(person: Path, temporary: Path) -> None:
    before = everything(person)
    async with Agent(ScriptedModel(remembers), spec=True) as agent:
        await agent.ask("Remember.")
        assert agent.learning.memory.block().count("42") == 1
        assert "tables" not in agent.turn.system
        assert stat.S_IMODE(agent.settings.home.stat().st_mode) == 0o700
        assert [path.parent for path in (agent.settings.home,)] == [temporary]
    assert everything(person) == before
    assert list(temporary.iterdir()) == []


async def test_an_agent_that_is_closed_twice_has_left_once(person: Path, temporary: Path) -> None:
    agent = Agent(ScriptedModel(forever(say("Hello."))), spec=True)
    await agent.ask("Hi.")
    agent.close()
    agent.close()
    assert list(temporary.iterdir()) == []


ASKS = """
import os, sys
from hermes_kernel import Agent
from hermes_kernel.testing import ScriptedModel, forever, say
agent = Agent(ScriptedModel(forever(say("Hello."))), spec=True)
agent.ask_sync("Hi.")
print(agent.settings.home, agent.session_id, flush=True)
if sys.argv[1] == "wait":
    sys.stdin.read()
if sys.argv[1] == "fork" and os.fork() == 0:
    sys.exit()
if sys.argv[1] == "fork":
    os.wait()
    assert agent.settings.home.exists()
"""


@pytest.mark.parametrize("how", ["end", "fork"])
def test_the_end_of_a_process_leaves_nothing_of_its_home(person: Path, temporary: Path, how: str) -> None:
    done = subprocess.run([sys.executable, "-c", ASKS, how], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1:] == [FIRST]
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_leaves_lies_with_temporary_files_and_is_nobody_else_s(
    person: Path, temporary: Path
) -> None:
    before = everything(person)
    with subprocess.Popen(
        [sys.executable, "-c", ASKS, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        home = Path(process.stdout.readline().split()[0])
        process.send_signal(signal.SIGKILL)
    assert home.parent == temporary
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert everything(person) == before


async def test_a_home_that_was_set_on_purpose_is_used_and_stays(
    person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Agent(ScriptedModel(forever(say("Hello."))), spec=True, home=tmp_path / "argument") as agent:
        await agent.ask("Hi.")
        assert agent.settings.home == tmp_path / "argument"
    assert (tmp_path / "argument/store").is_dir()
    monkeypatch.setenv("HERMES_HOME", str(person / ".hermes"))
    async with Agent(ScriptedModel(forever(say("Hello."))), spec=True) as agent:
        assert agent.settings.home == person / ".hermes"
        assert agent.settings.max_iterations == 7
        assert "tables" in agent.turn.system


async def test_a_second_run_in_the_same_home_has_ids_of_its_own(tmp_path: Path) -> None:
    asked = []
    for _ in range(2):
        async with Agent(ScriptedModel(forever(say("Hello."))), spec=True, home=tmp_path) as agent:
            await agent.ask("Hi.")
            agent.new()
            await agent.ask("Hi again.")
            asked += [row.id for row in agent.store.sessions(10)] if isinstance(agent.store, Store) else []
    assert FIRST in asked
    assert len(set(asked)) == 4


async def test_two_at_once_in_one_home_are_not_in_each_other_s_way(tmp_path: Path) -> None:
    async with (
        Agent(ScriptedModel(forever(say("Hello."))), spec=True, home=tmp_path) as one,
        Agent(ScriptedModel(forever(say("Hello."))), spec=True, home=tmp_path) as other,
    ):
        await one.ask("Hi.")
        await other.ask("Hi.")
        assert one.session_id == FIRST
        assert other.session_id != FIRST


async def test_time_goes_on_by_a_second_with_each_turn(tmp_path: Path) -> None:
    async with Agent(ScriptedModel(forever(say("Hello."))), spec=True, home=tmp_path) as agent:
        assert agent.spec
        assert agent.now() == START
        assert "Date: 2026-01-01" in agent.turn.system
        for turn in range(1, 4):
            await agent.ask("Hi.")
            assert agent.now() == START + turn
        assert isinstance(agent.store, Store)
        assert sorted({record.t - START for record in agent.store.records(agent.session_id)}) == [1, 2, 3]


async def test_without_a_spec_time_and_ids_are_the_machine_s(tmp_path: Path) -> None:
    before = time.time()
    async with Agent(ScriptedModel(forever(say("Hello."))), home=tmp_path) as agent:
        assert not agent.spec
        assert before <= agent.now() <= time.time()
        assert agent.session_id != FIRST


async def test_what_a_prompt_says_of_a_place_is_the_same_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = []
    for name in ("here", "somewhere-else"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        async with Agent(ScriptedModel([]), spec=True, home=tmp_path / name, notebook=f"{name}.ipynb") as agent:
            prompts.append(agent.turn.system)
    assert prompts[0] == prompts[1]


async def test_where_something_was_in_memory_is_not_told(tmp_path: Path) -> None:
    def answer(asked: Any) -> Step:
        return say("Done.") if len(asked.transcript) > 1 else call("python", {"code": "print(object())"})

    async with Agent(ScriptedModel(answer), spec=True, home=tmp_path) as agent:
        turn = await agent.ask("Look.")
        assert [event.text for event in turn.events if isinstance(event, Observed)] == ["<object object at 0x…>"]


async def test_an_agent_shows_in_which_conversation_it_is_and_not_where_in_memory(tmp_path: Path) -> None:
    shown = []
    for home in ("ada", "grace"):
        async with Agent(ScriptedModel(forever(say("Hello."))), spec=True, home=tmp_path / home) as agent:
            await agent.ask("Hello.")
            shown.append(repr(agent))
    assert shown[0] == shown[1] == f"<Agent in session {agent.session_id[:12]}>"


async def test_how_much_of_a_long_result_is_left_out_does_not_depend_on_where_the_whole_is(tmp_path: Path) -> None:
    def answer(asked: Any) -> Step:
        return say("Done.") if len(asked.transcript) > 1 else call("python", {"code": "print('word ' * 2000)"})

    texts = []
    for name in ("h", "home-with-a-much-longer-name"):
        home = tmp_path / name
        async with Agent(ScriptedModel(answer), spec=True, home=home, tool_result_chars=4000) as agent:
            turn = await agent.ask("Look.")
            texts += [event.text.replace(str(home), "") for event in turn.events if isinstance(event, Observed)]
    assert len(texts) == 2
    assert texts[0] == texts[1]


async def test_a_time_for_which_no_zone_is_named_is_in_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        async with Agent(ScriptedModel(forever(say("Hello."))), spec=True, home=tmp_path) as agent:
            job = agent.jobs.add("every day at 9", "Say hello.")
            assert job.zone == "UTC"
            await agent.ask("Hello.")
            assert agent.search("hello after:2026-01-01").threads
            assert not agent.search("hello before:2026-01-01").threads
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_no_slow_loop_begins_by_itself(tmp_path: Path) -> None:
    async with Agent(ScriptedModel(forever(say("Done."))), spec=True, home=tmp_path, learning=True) as agent:
        agent.learning.stays = True
        for _ in range(agent.settings.nudge_every_turns + 1):
            await agent.ask("Hi.")
        assert agent.store.learnt((LookDue,)) == ()
        assert {each.off for each in agent.learning.reflector.status()} == {"spec is on"}
    assert not (tmp_path / "curator").exists()


# --- which settings there are


def load(**environ: str) -> Settings:
    return Settings.load(environ=environ)


def test_a_replay_is_a_spec_unless_somebody_says_otherwise() -> None:
    assert load(HERMES_REPLAY="a.cassette.jsonl").spec
    assert not load(HERMES_REPLAY="a.cassette.jsonl", HERMES_SPEC="off").spec
    assert not load(HERMES_RECORD="a.cassette.jsonl").spec
    (shown,) = [row for row in load(HERMES_REPLAY="a.cassette.jsonl").shown() if row.name == "spec"]
    assert (shown.value, shown.source) == ("on", "replay")


def test_what_a_replay_implies_ends_with_it() -> None:
    before = load(HERMES_MODEL="m")
    during = before.with_(replay="a.cassette.jsonl")
    assert during.spec
    assert during.with_(max_retries=1).spec
    assert not during.with_(replay="").spec
    assert load(HERMES_SPEC="on").with_(replay="a").with_(replay="").spec
    assert Settings(spec=True).with_(replay="a").with_(replay="").spec


def test_of_a_person_s_kernel_toml_a_spec_takes_only_who_is_asked(person: Path) -> None:
    assert Settings.load().max_iterations == 7
    spec = Settings.load(spec=True)
    assert (spec.model, spec.max_iterations) == ("theirs", 90)
    assert Settings.load(spec=True, home=person / ".hermes").max_iterations == 7
    (person / ".hermes/kernel.toml").write_text("spec = true\nmax_iterations = 7\n", encoding="utf-8")
    assert (Settings.load().spec, Settings.load().max_iterations) == (True, 90)


@pytest.mark.parametrize("habit", ["spec = false", "replay_tools = true\nreplay_gaps = true", 'record = "all.jsonl"'])
@pytest.mark.parametrize("switch", ["HERMES_REPLAY", "HERMES_SPEC"])
def test_a_person_s_habits_do_not_say_how_what_is_switched_on_elsewhere_is_played(
    person: Path, habit: str, switch: str
) -> None:
    def played() -> list[object]:
        settings = load(**{switch: "on"})
        return [getattr(settings, name) for name in ("record", "replay", "replay_gaps", "replay_tools", "spec")]

    plain, written = played(), tomllib.loads(habit)
    (person / ".hermes/kernel.toml").write_text(habit, encoding="utf-8")
    assert played() == plain
    (person / ".hermes/kernel.toml").write_text(f'{habit}\nreplay = "mine.jsonl"', encoding="utf-8")
    assert {name: getattr(Settings.load(), name) for name in written} == written, "it is the file's own matter"


async def test_a_spec_begins_and_ends_with_its_agent(tmp_path: Path) -> None:
    async with Agent(ScriptedModel(forever(say("Hello."))), home=tmp_path) as agent:
        await agent.ask("Hi.")
        with pytest.raises((SettingsError, HermesError)) as refused:
            agent.configure(spec=True)
        assert "\n" not in str(refused.value)
        assert "HERMES_SPEC" in str(refused.value)


async def test_what_is_shown_of_a_skill_does_not_depend_on_where_the_home_is(tmp_path: Path) -> None:
    rows = []
    for home in (tmp_path / "h", tmp_path / "somewhere else"):
        folder = home / "skills/tea"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            "---\nname: tea\ndescription: How tea is made.\n---\nBoil it.", encoding="utf-8"
        )
        async with Agent(ScriptedModel([]), spec=True, home=home) as agent:
            rows.append(shown(agent.learning, "tea").rows)
    assert rows[0] == rows[1]


async def test_a_home_has_one_name_in_what_a_model_reads_and_asks_for(tmp_path: Path) -> None:
    """So that what it answers, recorded in one home, is right in another."""
    steps = [
        call("python", {"code": "print('word ' * 2000)"}),
        call("read_file", {"path": "$HERMES_HOME/results/" + FIRST + "/call_1_0.txt", "lines": 1}),
        call("terminal", {"command": "ls '$HERMES_HOME/results'"}),
        say("Done."),
    ]
    async with Agent(ScriptedModel(steps), spec=True, home=tmp_path / "a home", tool_result_chars=4000) as agent:
        turn = await agent.ask("Look.")
        long, read, listed = (event for event in turn.events if isinstance(event, Observed))
        assert f"all of it is in $HERMES_HOME/results/{FIRST}/call_1_0.txt;" in long.text
        assert Path(long.kept_at).read_text(encoding="utf-8").startswith("word word")
        assert read.ok
        assert "word word" in read.text
        assert FIRST in listed.text
        assert str(tmp_path) not in long.text + read.text + listed.text


LIVING = """
from hermes_kernel import Agent
from hermes_kernel.testing import ScriptedModel
print(Agent(ScriptedModel([]), spec=True).settings.home, flush=True)
input()
"""


def test_what_a_killed_process_left_goes_with_the_next_and_nobody_who_lives_loses_his(person, temporary):
    killed, lives = (
        subprocess.Popen([sys.executable, "-c", LIVING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    with killed, lives:
        left, held = (Path(each.stdout.readline().strip()) for each in (killed, lives))
        (temporary / "hermes-spec-mine").mkdir()
        (temporary / "hermes-spec-0123abcd" / "store").mkdir(parents=True)  # written by a process that it had begun
        killed.kill()
        killed.wait()
        assert left.is_dir()
        Agent(ScriptedModel([]), spec=True).close()
        assert sorted(path.name for path in temporary.iterdir()) == sorted([held.name, "hermes-spec-mine"])
        lives.kill()
