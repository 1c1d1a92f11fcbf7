"""Summaries that are made beside a conversation: nobody waits for them, and nothing that happens meanwhile is lost."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, HermesError
from hermes_kernel.core.commands import Compress
from hermes_kernel.core.compression import sound
from hermes_kernel.core.events import Asked, Compressed, Continued, Noticed, Opened, Spent
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, Usage, User
from hermes_kernel.core.turn import recall
from hermes_kernel.limits import side_limits
from hermes_kernel.settings import Settings
from hermes_kernel.testing import FastClock, Server, Tokens, empty, forever, overflow, say, status
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.compressing import Digester, Summariser
from hermes_kernel.world.compressing.work import SECONDS
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import MemoryLog, Store, StoreError
from tests.contracts.talks import (
    RECORD,
    WINDOW,
    Talk,
    ask,
    begun,
    compressed,
    fill,
    made,
    of,
    summaries,
    talking,
    until,
)
from tests.contracts.toolbox import Someone, observed, run_calls


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Any]:
    with talking(tmp_path / "home") as make:
        yield make


# --- nobody waits


async def test_prompts_are_answered_while_a_summary_that_never_comes_is_being_made(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await until(lambda: bool(talk.summaries))
    for n in range(4):
        told = await ask(agent, f"meanwhile {n}")
        assert not compressed(told)
        assert not of(Noticed, told), "nobody waits"
    assert len(talk.summaries) == 1, "it goes on, it is not begun anew"


async def test_a_summary_that_comes_late_takes_its_place_and_what_was_said_since_stands(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await ask(agent, "said while it was being made")
    await ask(agent, "and this too")
    said = agent.turn.transcript
    talk.open.set()
    await until(lambda: agent._equipment.compressor._work.done)
    told = await ask(agent, "and after it")
    (summary,) = summaries(agent)
    at = agent.turn.transcript.index(summary)
    assert "heron-4821" in summary.text
    since = agent.turn.transcript[at + 1 : -2]
    assert since == said[-len(since) :], "what was said since, word for word"
    assert [m.text for m in since if "meanwhile" in m.text or "said while" in m.text or "this too" in m.text]
    assert agent.turn.transcript[:at] == said[:at]
    assert not of(Compressed, told), "it was put in its place before the turn began"
    assert agent.turn.usage.calls == 1
    assert agent.usage.calls == len(talk.asked) + 1, "and is paid for"


async def test_where_a_model_answers_one_call_at_a_time_no_prompt_waits_for_a_summary() -> None:
    talk = Talk()
    settings = Settings(context_window=WINDOW)
    aside = Aside(talk, SystemClock(), side_limits(settings, 1), solitary=True)
    summariser = Summariser(lambda: settings, lambda: aside, SystemClock())
    said = tuple(each for n in range(60) for each in (User(f"prompt {n}"), Assistant("word " * 200)))
    with summariser.giving_way():
        summariser.begin(Compress(said, tokens=9_000, window=WINDOW))
        await asyncio.sleep(0)
        assert not talk.summaries, "the turn has the model for itself"
    await until(lambda: len(talk.summaries) == 1)
    with summariser.giving_way():
        talk.open.set()
        spent = summariser.ready(said)
        assert isinstance(spent, Spent)
        assert "a prompt came first" in spent.what
        assert summariser.ready((*said, User("and now?"))) is None
    await until(lambda: len(talk.summaries) >= 2)  # begun anew; its second piece follows at once
    longer = (*said, User("and now?"), Assistant("That."))
    got: list[Any] = []
    await until(lambda: got.append(summariser.ready(longer)) or got[-1] is not None)
    shorter = got[-1]
    assert isinstance(shorter, Compressed)
    assert shorter.transcript[-2:] == longer[-2:]
    await summariser.aclose()


async def test_within_a_turn_of_many_calls_it_is_put_in_place_between_two_of_them(agents: Any) -> None:
    talk = Talk(size=200)
    agent = agents(talk)
    await fill(agent, begun)
    talk.open.set()
    told: list[Any] = []
    async with aclosing(agent.stream("go on")) as events:
        async for event in events:
            told.append(event)
            if isinstance(event, Asked):
                await until(lambda: agent._equipment.compressor._work.done)
    (event,) = of(Compressed, told)
    assert (event.how, event.usage.calls, event.note) == ("summary", 1, "")
    assert event.after < event.before
    assert agent.turn.usage.calls == 2


async def test_the_next_one_updates_the_summary(agents: Any) -> None:
    talk = Talk()
    talk.open.set()
    agent = agents(talk)
    await fill(agent, lambda _: len(talk.summaries) == 2)
    assert "heron-4821" in talk.summaries[1].transcript[0].text
    await until(lambda: len(summaries(agent)) == 1)


async def test_at_most_one_summary_is_made_for_a_quarter_of_the_window(agents: Any) -> None:
    talk = Talk()
    talk.open.set()
    agent = agents(talk)
    for n in range(120):
        await ask(agent, f"prompt {n}")
    consumed = sum(len(call.transcript[-1].text) // 4 + 500 for call in talk.asked)
    assert 2 <= len(talk.summaries) <= consumed / (WINDOW / 4)
    assert len(summaries(agent)) == 1


async def test_old_results_that_are_long_are_shortened_without_asking_a_model(agents: Any) -> None:
    talk = Talk(size=20, reads="reading")
    agent = agents(talk)
    agent.add(reading)
    told = await fill(agent, compressed)
    assert {event.how for event in of(Compressed, told)} == {"pruned"}
    assert talk.summaries == []
    assert agent.turn.fill.tokens < WINDOW / 2
    assert agent.turn.transcript[-2].text == reading(len(talk.asked) - 1), "the newest stand as they are"


def reading(page: int) -> str:
    """Read a page."""
    return f"page {page}: " + f"letters of all kinds on {page} " * 150


# --- what happens meanwhile


async def test_a_stop_ends_the_turn_and_not_the_summary(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await until(lambda: bool(talk.summaries))
    async with aclosing(agent.stream("stop me")) as events:
        async for event in events:
            if isinstance(event, Asked):
                agent.stop()
    assert agent.turn.outcome == "interrupted"
    talk.open.set()
    await fill(agent, lambda _: bool(summaries(agent)))
    assert len(talk.summaries) == 1


async def test_what_is_taken_back_meanwhile_is_in_no_summary(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await until(lambda: bool(talk.summaries))
    agent.undo(50)
    assert agent.turn.transcript == ()
    talk.open.set()
    await ask(agent, "begin again")
    assert not summaries(agent)
    assert [fact.usage.calls for fact in agent.store.recall(agent.session_id) if isinstance(fact, Spent)] == [1]


async def test_an_undo_of_what_came_since_leaves_the_summary_its_place(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await ask(agent, "to be taken back")
    agent.undo()
    talk.open.set()
    await fill(agent, lambda _: bool(summaries(agent)))
    assert len(talk.summaries) == 1
    assert "to be taken back" not in str(agent.turn.transcript)


@pytest.mark.parametrize("leave", [lambda agent: agent.new(), lambda agent: agent.branch()])
async def test_a_conversation_that_is_left_pays_for_what_was_begun(agents: Any, leave: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await until(lambda: bool(talk.summaries))
    left = agent.session_id
    leave(agent)
    assert isinstance(agent.store.recall(left)[-1], Spent)
    talk.open.set()
    await ask(agent, "elsewhere")
    assert not [m for m in summaries(agent) if "heron" in m.text] or len(talk.summaries) > 1


async def test_another_model_means_another_summary(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await until(lambda: bool(talk.summaries))
    agent.configure(max_iterations=7)
    talk.open.set()
    await fill(agent, lambda _: bool(summaries(agent)))
    assert len(talk.summaries) == 2
    assert agent.usage.calls == len(talk.asked) + 2, "both are paid for"


@pytest.mark.parametrize("resumed", [False, True], ids=["went on", "resumed"])
@pytest.mark.parametrize(("changed", "kept"), [("base_url", False), ("model", False), ("max_iterations", True)])
async def test_whoever_goes_on_with_another_model_has_no_summary_made_for_the_window_of_the_old_one(
    tmp_path: Path, changed: str, *, kept: bool, resumed: bool
) -> None:
    with Server(forever(say("Yes."))) as old, Server(forever(say("Yes."))) as new, ExitStack() as agents:
        given: dict[str, Any] = {"base_url": old.url, "model": "small", "home": tmp_path / "home"}
        agent = agents.enter_context(closing(Agent(tools=[], **given, context_window=4000)))
        await agent.ask("q")
        changes = {"base_url": new.url, "model": "large", "max_iterations": 7}
        other = {"context_window": 0, changed: changes[changed]}
        if resumed:
            agent.close()
            again = Agent(tools=[], **(given | other), session=agent.session_id)
            agent = agents.enter_context(closing(again))
        else:
            agent.configure(**other)
        assert begun(await ask(agent, "word " * 2500)) is kept


def test_between_two_loops_nothing_hangs_and_nothing_is_left_over(agents: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        talk = asyncio.run(_made())
        agent = agents(talk)
        asyncio.run(fill(agent, begun))
        asyncio.run(ask(agent, "in another loop"))
        talk.open = asyncio.run(_set())
        asyncio.run(fill(agent, compressed_or(agent)))
        gc.collect()
    assert summaries(agent)


def compressed_or(agent: Agent) -> Any:
    return lambda told: compressed(told) or bool(summaries(agent))


async def _made() -> Talk:
    return Talk()


async def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def test_plain_calls_and_a_close_leave_no_task_behind(agents: Any, caplog: Any) -> None:
    agent = agents(Talk())
    for n in range(30):
        agent.ask_sync(f"prompt {n}")
        if agent.turn.fill.compressing:
            break
    assert agent.turn.fill.compressing
    agent.close()
    gc.collect()
    assert "destroyed" not in caplog.text


# --- at the last, a turn waits


async def test_near_the_end_of_the_window_a_turn_waits_and_says_so(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    told: list[Any] = []
    for n in range(60):
        async with aclosing(agent.stream(f"prompt {n}")) as events:
            async for event in events:
                told.append(event)
                if isinstance(event, Noticed):
                    talk.open.set()
        if compressed(told):
            break
    assert [event.how for event in of(Compressed, told)] == ["summary"]
    assert "summarising" in of(Noticed, told)[0].text
    assert len(talk.summaries) == 1, "the one that was begun is waited for"


async def test_a_stop_while_a_turn_waits_is_heard_at_once_and_the_summary_goes_on(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    for n in range(60):
        waited = False
        async with aclosing(agent.stream(f"prompt {n}")) as events:
            async for event in events:
                if isinstance(event, Noticed):
                    waited = True
                    agent.stop()
        if waited:
            break
    assert agent.turn.outcome == "interrupted"
    assert sound(agent.turn.transcript) == ""
    talk.open.set()
    await ask(agent, "once more")
    assert summaries(agent)
    assert len(talk.summaries) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (status(401, "no such key"), "No such key"),
        (status(500, "down"), "Down"),
        (empty(), ""),
        (say("Sorry."), "the answer was no summary"),
        (overflow(), ""),
    ],
    ids=["401", "500", "empty", "garbage", "overflow"],
)
async def test_a_summariser_that_fails_loses_nothing(agents: Any, answer: Any, why: str) -> None:
    talk = Talk(answer)
    talk.open.set()
    agent = agents(talk)
    told = await fill(agent, compressed)
    event = of(Compressed, told)[-1]
    assert event.how == "digest"
    assert event.note.startswith("no summary: ")
    assert "\n" not in event.note
    assert why in event.note
    assert event.after < event.before / 2
    assert sound(event.transcript) == ""
    assert agent.search("prompt 0").threads, "all of it is found"
    assert sum(each.usage.calls for each in of(Spent, told)) <= len(talk.summaries)


async def test_an_answer_longer_than_the_conversation_is_cut_to_size(agents: Any) -> None:
    talk = Talk(say(RECORD + "".join(f"- fact {n} of very many\n" for n in range(5_000)), usage=Tokens(10, 10)))
    talk.open.set()
    agent = agents(talk)
    await fill(agent, begun)
    await made(agent)
    await ask(agent)
    assert summaries(agent)
    assert agent.turn.fill.tokens < WINDOW / 2


async def test_no_summary_takes_longer_than_its_time(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk, clock=FastClock())
    told = await fill(agent, compressed)
    event = of(Compressed, told)[-1]
    assert event.how == "digest"
    assert f"{SECONDS:.0f} s" in event.note


# --- where the conversation goes on


async def compressing(agents: Any, **options: Any) -> tuple[Agent, Talk, str]:
    """An agent whose conversation was compressed and goes on in another session; the id of the one it was."""
    talk = Talk()
    talk.open.set()
    agent = agents(talk, **options)
    old = agent.session_id
    await fill(agent, lambda _: agent.session_id != old)
    return agent, talk, old


@pytest.mark.parametrize("log", [None, MemoryLog()], ids=["disk", "memory"])
async def test_a_compressed_conversation_goes_on_in_a_session_of_its_own(agents: Any, log: Any) -> None:
    agent, talk, old = await compressing(agents, log=log)
    opened, *rest = agent.store.recall(agent.session_id)
    before = agent.store.recall(old)
    assert isinstance(opened, Opened)
    assert (opened.parent, opened.system) == (old, before[0].system)
    assert before[-1] == Continued(agent.session_id)
    assert any(isinstance(fact, Asked) for fact in rest)
    assert opened.earlier.calls >= len(talk.asked) - 1
    assert agent.usage.calls == len(talk.asked) + len(talk.summaries)
    assert recall(agent.store.recall(agent.session_id)).transcript == agent.turn.transcript
    assert sound(opened.transcript) == ""


async def test_the_old_name_leads_to_where_it_goes_on(agents: Any) -> None:
    agent, _, old = await compressing(agents)
    child = agent.session_id
    agent.title("Letters")
    said = agent.turn
    for name in (old, old[:8]):
        assert agent.resume(name) is said, "as every cell of a notebook may say"
    agent.new()
    for name in (old, old[:8], "Letters"):
        assert agent.resume(name).session_id == child
        agent.new()


async def test_a_title_goes_along_and_names_one_session(agents: Any) -> None:
    talk = Talk()
    talk.open.set()
    agent = agents(talk)
    await ask(agent)
    agent.title("Sorted letters")
    old = agent.session_id
    await fill(agent, lambda _: agent.session_id != old)
    assert agent.store.find("Sorted letters") == agent.session_id


async def test_what_was_allowed_for_the_session_is_not_asked_again_after_it(agents: Any) -> None:
    talk, person = Talk(), Someone("this session")
    talk.open.set()
    agent = agents(talk, person=person)
    dangerous = ("terminal", {"command": "rm -rf ./there-is-no-such-folder"})
    assert observed(await run_calls(agent.tools, dangerous)).ok
    old = agent.session_id
    await fill(agent, lambda _: agent.session_id != old)
    assert observed(await run_calls(agent.tools, dangerous)).ok
    assert len(person.asked) == 1
    agent.new()
    await run_calls(agent.tools, dangerous)
    assert len(person.asked) == 2, "another conversation is another session"


async def test_an_undo_goes_no_further_back_than_the_compression(agents: Any) -> None:
    agent, _, old = await compressing(agents)
    assert agent.undo(50) == 2, "this turn, and the last one before, which stands word for word"
    with pytest.raises(HermesError, match=f"Nothing is left to take back.*{old[:8]}"):
        agent.undo()
    assert sound(agent.turn.transcript) == ""
    again = agent.session_id
    agent.new()
    agent.resume(again)
    with pytest.raises(HermesError, match=f"Nothing is left to take back.*{old[:8]}"):
        agent.undo()


async def test_a_search_finds_one_conversation(agents: Any) -> None:
    agent, _, old = await compressing(agents)
    found = agent.search("prompt")
    assert [thread.root for thread in found.threads] == [old]


async def test_a_branch_is_a_branch_of_where_it_goes_on(agents: Any) -> None:
    agent, _, _ = await compressing(agents)
    child, said = agent.session_id, agent.turn.transcript
    agent.branch()
    assert agent.store.recall(child)[-1] != Continued(agent.session_id)
    assert agent.turn.transcript == said
    assert agent.resume(child).session_id == child


async def test_the_old_session_is_let_go_and_the_new_one_is_held(agents: Any, tmp_path: Path) -> None:
    agent, _, old = await compressing(agents)
    with Store(tmp_path / "home").claim(old):
        pass
    with pytest.raises(StoreError, match="in use"):
        Store(tmp_path / "home").claim(agent.session_id)


class Full(MemoryLog):
    """A log on a disk that is full from the moment that a session would be opened which goes on from another."""

    full = True

    def append(self, session_id: str, *events: Any) -> None:
        if self.full and any(isinstance(event, Opened) and event.parent for event in events):
            raise StoreError("the disk is full: make room, then go on")
        super().append(session_id, *events)


async def test_a_store_that_is_full_at_that_moment_loses_nothing(agents: Any) -> None:
    talk, log = Talk(), Full()
    talk.open.set()
    agent = agents(talk, log=log)
    old = agent.session_id
    with pytest.raises(HermesError, match="disk is full"):
        await fill(agent, lambda _: False)
    assert agent.session_id == old
    assert summaries(agent), "the summary is not made again"
    made = len(talk.summaries)
    log.full = False
    await ask(agent, "there is room again")
    assert agent.session_id != old
    assert len(talk.summaries) == made
    assert log.recall(old)[-1] == Continued(agent.session_id)
    assert agent.usage.calls == len(talk.asked) + made


async def test_a_crash_between_the_two_sessions_leaves_both_sound(agents: Any, tmp_path: Path) -> None:
    agent, _, old = await compressing(agents)
    agent.close()
    facts = Store(tmp_path / "home").recall(old)
    log = MemoryLog()
    log.append(old, *facts[:-1])  # killed before it was written where it goes on
    again = agents(Talk(), log=log, session=old)
    assert again.session_id == old
    assert sound(again.turn.transcript) == ""
    await ask(again, "go on")
    assert again.turn.outcome == "completed"


# --- by hand


async def test_a_person_can_have_it_compressed_now(agents: Any) -> None:
    talk = Talk()
    talk.open.set()
    agent = agents(talk)
    old = agent.session_id
    for n in range(6):
        await ask(agent, f"prompt {n}")
    event = await agent.compress("the code")
    assert (event.how, event.note) == ("summary", "")
    assert event.after < event.before
    assert "the code" in talk.summaries[0].transcript[0].text
    assert agent.session_id != old
    assert summaries(agent)
    assert agent.store.recall(old)[-1] == Continued(agent.session_id)
    assert agent.usage.calls == 7
    await ask(agent, "and on")


async def test_where_nothing_can_be_gained_nothing_is_changed(agents: Any) -> None:
    talk = Talk(size=3)
    agent = agents(talk)
    await ask(agent)
    before = agent.store.recall(agent.session_id)
    event = await agent.compress()
    assert event.before == event.after
    assert event.transcript == agent.turn.transcript
    assert agent.store.recall(agent.session_id) == before
    assert talk.summaries == []


async def test_for_a_person_a_failure_is_told_and_nothing_is_changed(agents: Any) -> None:
    talk = Talk(status(401, "no such key"))
    talk.open.set()
    agent = agents(talk)
    for n in range(6):
        await ask(agent, f"prompt {n}")
    said = agent.turn.transcript
    event = await agent.compress()
    assert event.before == event.after
    assert "No such key" in event.note
    assert agent.turn.transcript == said


async def test_it_can_be_stopped_and_what_was_begun_is_used_later(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    for n in range(6):
        await ask(agent, f"prompt {n}")
    said = agent.turn.transcript
    with pytest.raises(HermesError, match="Stopped"):
        await _stopped(agent)
    assert agent.turn.transcript == said
    assert not agent.busy
    talk.open.set()
    assert (await agent.compress()).how == "summary"
    assert len(talk.summaries) == 1


async def _stopped(agent: Agent) -> None:
    async with aclosing(agent.compressing()) as events:
        async for _ in events:
            agent.stop()


def test_from_plain_code_too(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    for n in range(6):
        agent.ask_sync(f"prompt {n}")
    talk.open.set()
    assert agent.compress_sync().how == "summary"


async def test_no_compression_while_a_turn_runs(agents: Any) -> None:
    agent = agents(Talk())
    async with aclosing(agent.stream("q")) as events:
        await anext(events)
        with pytest.raises(HermesError, match="A turn is running"):
            await agent.compress()


async def test_usage_is_what_every_call_said(agents: Any) -> None:
    talk = Talk(say(RECORD, usage=Tokens(111, 22)))
    talk.open.set()
    agent = agents(talk)
    await fill(agent, lambda _: bool(summaries(agent)))
    whole = sum((call for call in (Usage(1, 0, 500),) * len(talk.asked)), Usage())
    assert agent.usage.output_tokens == whole.output_tokens + 22 * len(talk.summaries)


# --- without a model


async def test_work_that_does_not_last_has_old_results_shortened_ahead_and_a_digest_at_the_last() -> None:
    long = "letters of all kinds " * 400
    said: Transcript = (User("sort them"),)
    for n in range(30):
        said += (Assistant("", (ToolCall(f"c{n}", "read", "{}"),)), Observation(f"c{n}", "read", f"{n}: {long}"))
    digester = Digester()
    assert digester.ready(said) is None
    digester.begin(Compress(said, tokens=60_000, window=100_000, ahead=True))
    pruned = digester.ready(said)
    assert isinstance(pruned, Compressed)
    assert (pruned.how, len(pruned.transcript), pruned.transcript[-1]) == ("pruned", len(said), said[-1])
    assert digester.ready(said) is None, "once"
    digester.begin(Compress(said[:3], tokens=60_000, window=100_000, ahead=True))
    assert digester.ready(said[:3]) is None, "nothing is gained"
    (made,) = [event async for event in digester.compress(Compress(said, 2, 90_000, 100_000), Stop())]
    assert isinstance(made, Compressed)
    assert made.after < made.before / 4
    assert sound(made.transcript) == ""
