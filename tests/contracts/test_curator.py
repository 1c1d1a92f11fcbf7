"""The curator on disk: only legal moves, only of what the agent made; nothing is lost, and everything can be taken back."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import stat
from pathlib import Path

import pytest

from hermes_kernel.core.learning.curating import DAY, TABLE, State
from hermes_kernel.core.learning.curating_runs import DONE, FAILED, INTERRUPTED, RUNNING, Run, words
from hermes_kernel.core.learnt import Looked, SkillChanged, SkillMarked
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.curating.shelf import Shelf
from hermes_kernel.world.stop import Stop
from tests.contracts.curated import START, Days, Tended, held, text


@pytest.fixture
def tended(tmp_path: Path) -> Tended:
    return Tended(tmp_path)


def ran(tended: Tended, **how: object) -> Run:
    return asyncio.run(tended.curator.run(**how))


def aged(tended: Tended, *names: str) -> None:
    """Skills that were used once and are then left for 100 days, of which the curator sees the last 60."""
    tended.made(*names)
    tended.use(*names)
    tended.clock.pass_days(40)
    ran(tended)
    tended.clock.pass_days(60)


# --- through 120 days


def test_60_skills_through_120_days(tmp_path):
    """Or as many times 60 as ``HERMES_TEST_SKILLS`` says."""
    dice, times = random.Random(8), int(os.environ.get("HERMES_TEST_SKILLS", "60")) // 60
    tended = Tended(tmp_path, curator_idle_hours=0)
    own = [f"own-{n:02}" for n in range(40 * times)]
    tended.made(*own[: 30 * times])
    tended.made(*own[30 * times :], category="work/charts")
    tended.by_hand(*(f"mine-{n:02}" for n in range(14 * times)))
    bought = [f"bought-{n}" for n in range(6 * times)]
    tended.by_hand(*bought)
    for name in bought:
        tended.library.marks.change(name, origin="installed")
    for name in dice.sample(own, 4 * times):
        tended.library.mark(name, "pinned", "person")
    everybody = set(tended.states())
    assert len(everybody) == 60 * times
    assert asyncio.run(tended.curator.visit()) is None, "the first visit only begins to count"
    favourites, runs, moved = dice.sample(own, 6 * times), [], set()
    for day in range(1, 121):
        tended.clock.pass_days(1)
        before = tended.states()
        there = [name for name, state in before.items() if state is not State.ARCHIVED]
        tended.use(*dice.sample(favourites, 2), how=dice.choice(["view", "use"]))
        if day % 3 == 0:
            tended.use(dice.choice(there))
        if day % 10 == 0:
            name = dice.choice(there)
            tended.library.mark(name, dice.choice(["pinned", "unpinned"]), "person")
            edited = next(tended.skills.rglob(f"{dice.choice(there)}/SKILL.md"))
            edited.write_text(edited.read_text() + f"By hand on day {day}.\n", encoding="utf-8")
        pinned = {name for name, mark in tended.library.marks.read().items() if mark.pinned}
        bodies = bodies_of(tended)
        run = asyncio.run(tended.curator.visit())
        if run is None:
            continue
        runs.append(run)
        assert run.status == DONE
        assert all(step.outcome == "done" for step in run.steps), run.steps
        after = tended.states()
        for name in everybody:
            legal = {to for (at, _), to in TABLE.items() if at is before[name]}
            assert after[name] is before[name] or after[name] in legal, name
            if after[name] is not before[name]:
                moved.add(name)
                assert name in own, "somebody else's skill was moved"
                assert name not in pinned, "a pinned skill was moved"
        assert set(after) == everybody, "a skill is gone"
        assert bodies_of(tended) == bodies, "a text was changed or lost"
        if len(runs) % 5 == 2:
            check_nothing_twice_and_all_taken_back(tended)
    assert len(runs) == 17, "one run every seven days"
    states = tended.states()
    assert {states[name] for name in own} == {State.ACTIVE, State.STALE, State.ARCHIVED}
    assert sum(states[name] is State.ARCHIVED for name in own) > 10
    assert moved <= set(own)
    assert all(states[name] is State.ACTIVE for name in everybody - set(own))


def bodies_of(tended: Tended) -> dict[str, bytes]:
    """What every skill says, wherever it is."""
    found = {path.parent.name: path.read_bytes() for path in tended.skills.rglob("SKILL.md")}
    assert len(found) == len(list(tended.skills.rglob("SKILL.md"))), "a skill is in two places"
    return found


def check_nothing_twice_and_all_taken_back(tended: Tended) -> None:
    last = tended.curator.find("last")
    now = tended.bytes()
    again = ran(tended)
    assert again.steps == ()
    assert tended.bytes() == now, "a second run changed something"
    if last.done:
        back = asyncio.run(tended.curator.rollback(last.id))
        assert set(back.names) >= {step.name for step in last.done if step.after == "archived"}
        forth = asyncio.run(tended.curator.rollback(back.id))
        assert tended.bytes() == now, "a rollback that is taken back leaves a trace"
        assert forth.status == DONE


# --- a run


def test_a_run_moves_what_is_due_and_says_so_to_a_person_and_to_a_program(tended):
    aged(tended, "plot")
    before = tended.bytes()
    run = ran(tended)
    assert [(step.name, step.before, step.after, step.outcome) for step in run.steps] == [
        ("plot", "stale", "archived", "done")
    ]
    assert (tended.skills / ".archive/plot/SKILL.md").read_bytes() == before["plot/SKILL.md"]
    assert not (tended.skills / "plot").exists()
    folder = tended.home / "curator" / run.id
    assert sorted(path.name for path in folder.iterdir()) == ["REPORT.md", "run.json", "snapshot.json"]
    assert json.loads((folder / "run.json").read_text())["status"] == DONE
    assert "skills/plot" in tended.curator.report().replace("&#95;", "_")
    looked = tended.chronicle.read(Looked)[-1].fact
    assert (looked.loop, looked.outcome, looked.wrote) == ("curator", "completed", ("plot: archived",))
    changed = tended.chronicle.read(SkillChanged)[-1].fact
    assert (changed.name, changed.action, changed.by) == ("plot", "archive", "curator")
    for path in (tended.home / "curator").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_rehearsal_writes_nothing_and_shows_what_the_run_then_does(tended):
    aged(tended, "plot")
    tended.made("young")
    before = held(tended.home, all=True)
    rehearsed = asyncio.run(tended.curator.rehearse())
    assert held(tended.home, all=True) == before
    assert rehearsed.status == "planned"
    done = ran(tended)
    assert [(step.name, step.after) for step in done.steps] == [(step.name, step.after) for step in rehearsed.steps]


def test_a_plan_can_be_made_for_another_day(tended):
    tended.made("plot")
    tended.use("plot")
    assert tended.curator.plan().moves == ()
    (move,) = tended.curator.plan(START + 31 * DAY).moves
    assert (move.name, move.after) == ("plot", State.STALE)
    run = ran(tended, now=START + 31 * DAY)
    assert run.now == START + 31 * DAY
    assert tended.states()["plot"] is State.STALE
    assert ran(tended, now=START + 31 * DAY).steps == ()


def test_use_brings_a_stale_skill_back(tended):
    tended.made("plot")
    tended.use("plot")
    tended.clock.pass_days(31)
    ran(tended)
    assert tended.states()["plot"] is State.STALE
    assert tended.library.get("plot").offered, "a stale skill is still offered"
    tended.use("plot")
    ran(tended)
    assert tended.states()["plot"] is State.ACTIVE


def test_what_a_schedule_names_stays(tmp_path):
    tended = Tended(tmp_path, scheduled=("plot",))
    tended.made("plot", "other")
    tended.clock.pass_days(31)
    assert [step.name for step in ran(tended).steps] == ["other"]


def test_what_the_original_wrote_down_counts(tended):
    tended.by_hand("theirs", "unknown")
    used = {
        "created_by": "agent",
        "created_at": "2020-01-01T00:00:00+00:00",
        "last_used_at": "2027-01-10T00:00:00+00:00",
    }
    said = {"theirs": {**used, "use_count": 3, "view_count": "x"}, "unknown": {"created_by": "agent"}, "odd": 7}
    (tended.skills / ".usage.json").write_text(json.dumps(said))
    lives = {life.name: life for life in tended.curator.lives()}
    assert (lives["theirs"].uses, lives["theirs"].views, lives["theirs"].origin) == (3, 0, "agent")
    assert lives["theirs"].last == 1_799_539_200
    assert lives["unknown"].born > 0, "its file says when"
    assert [move.name for move in tended.curator.plan(START + 40 * DAY).moves] == ["theirs", "unknown"]


def test_a_skill_that_is_pinned_while_the_run_goes_on_stays(tended):
    aged(tended, *(f"s{n}" for n in range(3)))

    class Pinning(Stop):
        """Looked at between two steps, it is a person who pins a skill."""

        @property
        def by(self) -> str:
            tended.library.mark("s2", "pinned", "person")
            return ""

    run = ran(tended, stop=Pinning())
    assert [(step.name, step.outcome) for step in run.steps] == [("s0", "done"), ("s1", "done"), ("s2", "not done")]
    assert tended.states()["s2"] is State.STALE


def test_without_a_snapshot_there_is_no_run(tended):
    aged(tended, "plot", "other")
    (tended.skills / "other/out").symlink_to("/etc")
    before = tended.bytes()
    with pytest.raises(HermesError, match="Nothing was done.*leads out"):
        ran(tended)
    assert tended.bytes() == before
    run = tended.curator.find()
    assert (run.status, run.done) == (FAILED, ())
    assert tended.chronicle.read(Looked)[-1].fact.outcome == "skipped"


def test_what_a_person_has_made_of_links_keeps_no_run_from_the_others(tended):
    aged(tended, "plot")
    tended.by_hand("mine")
    (tended.skills / "mine/out").symlink_to("/etc")
    (tended.skills / "linked").symlink_to(tended.home)
    run = ran(tended)
    assert run.status == DONE
    assert tended.states()["plot"] is State.ARCHIVED
    asyncio.run(tended.curator.rollback())
    assert (tended.skills / "plot/SKILL.md").is_file()
    assert (tended.skills / "mine/out").is_symlink()
    assert (tended.skills / "linked").is_symlink()


def test_only_one_curator_is_at_work(tended):
    tended.made("plot")
    with Shelf(tended.home).alone():
        with pytest.raises(HermesError, match="another process"):
            ran(tended)
        with pytest.raises(HermesError, match="another process"):
            asyncio.run(tended.curator.rollback())


# --- taken back


def test_a_rollback_restores_every_byte_and_can_itself_be_taken_back(tended):
    tended.made("plot", category="work")
    extra = tended.skills / "work/plot/scripts"
    extra.mkdir()
    (extra / "run.sh").write_bytes(b"#!/bin/sh\n\x00\xff\n")
    (extra / "run.sh").chmod(0o700)
    (tended.skills / "work/DESCRIPTION.md").write_text("Work.")
    aged(tended, "other")
    before = tended.bytes()
    run = ran(tended)
    after = tended.bytes()
    assert after != before
    back = asyncio.run(tended.curator.rollback(run.id))
    assert tended.bytes() == before
    assert stat.S_IMODE((extra / "run.sh").stat().st_mode) == 0o700
    assert tended.curator.find(run.id).rolled_back == back.id
    assert {dated.fact.action for dated in tended.chronicle.read(SkillChanged)} >= {"rollback"}
    asyncio.run(tended.curator.rollback(back.id))
    assert tended.bytes() == after


def test_what_a_run_only_marked_is_counted_among_what_was_taken_back(tended):
    tended.made("plot", "table")
    tended.use("plot", "table")
    tended.clock.pass_days(40)
    assert {step.after for step in ran(tended).done} == {"stale"}
    back = asyncio.run(tended.curator.rollback())
    assert words(back).endswith(": 2 skills put back as before")
    assert tended.states()["plot"] is State.ACTIVE
    assert words(asyncio.run(tended.curator.rollback(back.id))).endswith(": 2 skills put back as before")
    assert tended.states()["plot"] is State.STALE


def test_skills_and_marks_made_since_stay_and_what_else_is_put_back_is_said(tended):
    aged(tended, "plot")
    tended.made("touched")
    run = ran(tended)
    tended.made("young")
    tended.library.mark("young", "pinned", "person")
    (tended.skills / "touched/SKILL.md").write_text(text("touched", "changed since"))
    back = asyncio.run(tended.curator.rollback())
    assert back.of == run.id
    assert (tended.skills / "young/SKILL.md").is_file()
    assert tended.library.get("young").pinned
    assert tended.library.get("young").origin == "agent"
    assert "changed since" not in (tended.skills / "touched/SKILL.md").read_text()
    said = {step.name: step.said for step in back.steps}
    assert said["touched"] == "it was changed since by somebody else"
    asyncio.run(tended.curator.rollback(back.id))
    assert "changed since" in (tended.skills / "touched/SKILL.md").read_text(), "nothing is lost by it"


def test_what_a_person_decided_and_wrote_since_a_run_stays(tended):
    tended.made("stays", "off", "pin", "read")
    tended.use("stays", "off", "pin", "read")
    tended.clock.pass_days(40)
    notes, gone = tended.skills / "NOTES.md", tended.skills / "OLD.md"
    notes.write_text("old\n")
    gone.write_text("old\n")
    assert {step.after for step in ran(tended).done} == {"stale"}
    tended.library.mark("off", "disabled", "person")
    tended.library.mark("pin", "pinned", "person")
    tended.library.mark("read", "trusted", "person")
    trusted = tended.library.marks.read()["read"].trusted
    notes.write_text("old\nand a day of my own\n")
    gone.unlink()
    back = asyncio.run(tended.curator.rollback())
    assert set(tended.states().values()) == {State.ACTIVE}
    assert not tended.library.get("off").offered
    assert tended.library.get("pin").pinned
    assert tended.library.marks.read()["read"].trusted == trusted
    assert (notes.read_text(), gone.exists()) == ("old\nand a day of my own\n", False)
    assert sorted(step.name for step in back.steps) == ["off", "pin", "read", "stays"]
    asyncio.run(tended.curator.rollback(back.id))
    assert tended.states()["stays"] is State.STALE
    assert tended.library.get("pin").pinned


def test_what_was_taken_back_is_not_done_again_at_once(tended):
    aged(tended, "plot")
    ran(tended)
    asyncio.run(tended.curator.rollback())
    run = ran(tended)
    assert [(step.name, step.after) for step in run.steps] == [("plot", "active")]
    assert ran(tended).steps == ()


def test_what_cannot_be_taken_back_is_said_in_a_line(tended):
    with pytest.raises(HermesError, match="no run to take back"):
        asyncio.run(tended.curator.rollback())
    tended.made("plot")
    ran(tended)
    with pytest.raises(HermesError, match="There is no run '1999'"):
        asyncio.run(tended.curator.rollback("1999"))
    (tended.home / "curator" / tended.curator.find().id / "snapshot.json").write_text(
        '{"folders": {"../x": "y"}, "loose": ""}'
    )
    with pytest.raises(HermesError, match="left no snapshot"):
        asyncio.run(tended.curator.rollback(tended.curator.find().id))


def test_a_person_restores_an_archived_skill_and_it_stays(tended):
    aged(tended, "plot")
    ran(tended)
    assert "plot" in tended.curator.restore("plot")
    assert tended.states()["plot"] is State.ACTIVE
    tended.clock.pass_days(7)
    assert ran(tended).steps == ()
    with pytest.raises(HermesError, match="is not archived: it is active"):
        tended.curator.restore("plot")
    with pytest.raises(HermesError, match="No skill 'nothing' is archived"):
        tended.curator.restore("nothing")


# --- when


def test_it_runs_by_itself_only_when_it_is_due_and_nobody_works(tmp_path):
    worked = START
    tended = Tended(tmp_path, active=lambda: worked)
    tended.made("plot")
    assert "has not looked here yet" in tended.curator.status().holds
    assert asyncio.run(tended.curator.visit()) is None
    assert "the next run is due on" in tended.curator.status().holds
    tended.clock.pass_days(7.1)
    worked = tended.clock.t - 3_600
    assert asyncio.run(tended.curator.visit()) is None
    assert "somebody worked here 60 minutes ago; it waits for 2 idle hours" in tended.curator.status().holds
    worked = tended.clock.t - 7_300
    assert tended.curator.status().due
    run = asyncio.run(tended.curator.visit())
    assert (run.by, run.status) == ("curator", DONE)
    assert asyncio.run(tended.curator.visit()) is None, "once"
    assert tended.curator.status().last == run
    assert tended.curator.status().next == pytest.approx(run.began + 7 * DAY, abs=1)


def test_a_first_visit_beside_another_process_is_no_trouble(tmp_path):
    tended = Tended(tmp_path)
    with Shelf(tmp_path).alone():
        assert asyncio.run(tended.curator.visit()) is None
    assert asyncio.run(tended.curator.visit()) is None
    assert "the next run is due on" in tended.curator.status().holds


def test_switched_off_it_never_runs_by_itself_and_a_person_may_run_it(tmp_path):
    tended = Tended(tmp_path, learning=False)
    tended.clock.pass_days(30)
    assert asyncio.run(tended.curator.visit()) is None
    assert "learning is off" in tended.curator.status().holds
    assert not (tmp_path / "curator").exists()
    assert ran(tended).status == DONE


def test_an_open_kernel_attends_to_it_and_leaves_in_the_middle_cleanly(tmp_path):
    clock = Days()
    tended = Tended(tmp_path, clock=clock)
    tended.made("plot")

    async def a_month() -> None:
        task = asyncio.ensure_future(tended.curator.attend(clock))
        while clock.t < START + 32 * DAY:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(a_month())
    statuses = [run.status for run in tended.curator.runs()]
    assert statuses[:3] == [DONE] * 3
    assert set(statuses) <= {DONE, INTERRUPTED}
    assert tended.states()["plot"] in {State.ACTIVE, State.STALE}


def test_a_run_that_began_by_itself_gives_way_to_whoever_works(tmp_path):
    tended = Tended(tmp_path)
    tended.made(*(f"s{n}" for n in range(20)))

    async def interrupted() -> Run | None:
        await tended.curator.visit()
        tended.clock.pass_days(40)
        visit = asyncio.ensure_future(tended.curator.visit())
        while not tended.library.marks.read()["s3"].stale:
            await asyncio.sleep(0)
        tended.curator.give_way()
        return await visit

    run = asyncio.run(interrupted())
    assert run.status == INTERRUPTED
    assert 4 <= len(run.done) < 20
    assert tended.curator.status().due
    assert len(asyncio.run(tended.curator.visit()).done) == 20 - len(run.done)


def test_trouble_is_told_in_the_status_and_is_no_end(tmp_path):
    clock = Days()
    tended = Tended(tmp_path, clock=clock)
    tended.made("plot")
    (tended.skills / "plot/out").symlink_to("/etc")

    async def two_weeks() -> None:
        task = asyncio.ensure_future(tended.curator.attend(clock))
        while clock.t < START + 14 * DAY:
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(two_weeks())
    assert "leads out" in tended.curator.status().trouble
    assert len(tended.curator.runs()) <= 8, "it is tried again once a day"


def test_a_run_that_is_stopped_is_closed_and_the_next_one_does_the_rest(tended):
    aged(tended, *(f"s{n}" for n in range(4)))

    class Soon(Stop):
        """Pressed when it was looked at twice."""

        looked = 0

        @property
        def by(self) -> str:
            self.looked += 1
            return "person" if self.looked > 2 else ""

    run = ran(tended, stop=Soon())
    assert run.status == INTERRUPTED
    assert [step.outcome for step in run.steps] == ["done", "done", "planned", "planned"]
    assert "every skill is whole" in tended.curator.report()
    rest = ran(tended)
    assert [step.name for step in rest.steps] == ["s2", "s3"]


def test_a_run_whose_process_died_is_closed_with_what_it_did(tended):
    aged(tended, "a", "b")
    run = ran(tended)
    shelf = Shelf(tended.home)
    shelf.save(Run(run.id, run.began, run.now, steps=tuple(step_before(step) for step in run.steps)))
    assert tended.curator.find().status == RUNNING
    ran(tended)
    closed = tended.curator.find(run.id)
    assert closed.status == INTERRUPTED
    assert [step.outcome for step in closed.steps] == ["done", "done"]


def step_before(step):
    from dataclasses import replace

    return replace(step, outcome="planned")


def test_records_that_nobody_understands_are_passed_over(tended):
    tended.made("plot")
    root = tended.home / "curator"
    for name, said in {"a": "{", "b": '{"id": "other"}', "c": "[1]"}.items():
        (root / name).mkdir(parents=True)
        (root / name / "run.json").write_text(said)
    (root / "clock.json").write_text('{"last": "x", "stale": 3}')
    assert tended.curator.runs() == ()
    run = ran(tended)
    assert tended.curator.runs() == (run,)
    with pytest.raises(HermesError, match="There is no run 'a'"):
        tended.curator.find("a")


def test_a_lost_report_is_drawn_anew(tended):
    run = ran(tended)
    shutil.rmtree(tended.home / "history", ignore_errors=True)
    page = tended.curator.report()
    (tended.home / "curator" / run.id / "REPORT.md").unlink()
    assert tended.curator.report() == page


def test_marks_are_kept_for_the_next_run(tended):
    tended.made("plot")
    tended.clock.pass_days(31)
    ran(tended)
    (mark,) = (dated.fact for dated in tended.chronicle.read(SkillMarked))
    assert (mark.name, mark.mark, mark.by) == ("plot", "stale", "curator")
    assert "never used in the 31 days" in mark.why


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["skills/.usage.json", "curator/clock.json"])
def test_nothing_waits_for_a_pipe(tended, name):
    aged(tended, "plot")
    path = tended.home / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert [life.name for life in tended.curator.lives()] == ["plot"]
    assert not tended.curator.status().trouble
