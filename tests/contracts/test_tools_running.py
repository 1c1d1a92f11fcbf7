"""Loop 1: what holds for a batch of calls, whatever the tools do."""

import asyncio
import contextvars
import dataclasses
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from hermes_kernel.core.events import Interrupted, Noticed, Observed, Started
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import ToolError, tool
from hermes_kernel.world.tools.runaways import kill_marked, marked
from tests.contracts.toolbox import Someone, observed, run_calls, toolbox
from tests.kernel.processes import lives
from tests.soon import SOON


def texts(events):
    return {event.call_id: event.text for event in events if isinstance(event, Observed)}


@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_eight_tools_of_a_fifth_of_a_second_take_as_long_as_one(tmp_path, kind):
    def plain(n: int) -> int:
        time.sleep(0.2)
        return n

    async def waiting(n: int) -> int:
        await asyncio.sleep(0.2)
        return n

    tools = toolbox(tmp_path)
    name = tools.add(plain if kind == "plain" else waiting).name
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        events = await run_calls(tools, *[(name, {"n": n}) for n in range(8)])
        seconds.append(time.perf_counter() - began)
        tools.begin_turn()
    assert texts(events) == {f"call_{n}": str(n) for n in range(8)}
    assert min(seconds) < 0.4  # the bar of 0.25 s is measured by the benchmark; this only tells one from two rounds


async def test_calls_begin_in_call_order_and_results_are_told_as_they_arrive(tmp_path):
    begun = []

    async def wait(n: int) -> int:
        begun.append(n)
        await asyncio.sleep(0.15 - n * 0.05)
        return n

    tools = toolbox(tmp_path)
    tools.add(wait)
    events = await run_calls(tools, *[("wait", {"n": n}) for n in range(3)])
    assert begun == [0, 1, 2]
    assert [event.call_id for event in events if isinstance(event, Started)] == ["call_0", "call_1", "call_2"]
    assert [event.call_id for event in events if isinstance(event, Observed)] == ["call_2", "call_1", "call_0"]


async def test_a_tool_begins_only_after_its_start_was_taken_by_whoever_keeps_it(tmp_path):
    log = []
    tools = toolbox(tmp_path)
    tools.add(tool(name="note")(lambda: log.append("ran")))
    async for event in tools.run([ToolCall("a", "note", "{}")], Stop()):
        if isinstance(event, Started):
            await asyncio.sleep(0.05)
            log.append("kept")
    assert log == ["kept", "ran"]


async def test_exclusive_tools_run_one_at_a_time_in_call_order_beside_the_others(tmp_path):
    log = []

    @tool(exclusive=True)
    async def alone(n: int) -> int:
        log.append(f"+{n}")
        await asyncio.sleep(0.01)
        log.append(f"-{n}")
        return n

    tools = toolbox(tmp_path)
    tools.add(alone)
    await run_calls(tools, *[("alone", {"n": n}) for n in range(3)])
    assert log == ["+0", "-0", "+1", "-1", "+2", "-2"]


async def test_a_tool_past_its_deadline_is_answered_and_the_others_are_not_disturbed(tmp_path):
    free = threading.Event()

    @tool(seconds=0.1)
    def stuck() -> str:
        free.wait(30)
        return "late"

    @tool(seconds=0.1)
    async def slow() -> str:
        await asyncio.sleep(30)
        return "late"

    @tool(seconds=0.1)
    async def stubborn() -> str:
        for _ in range(3):
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                continue
        return "late"

    tools = toolbox(tmp_path)
    for made in (stuck, slow, stubborn):
        tools.add(made)
    events = await run_calls(tools, ("stuck", {}), ("slow", {}), ("stubborn", {}), ("todo", {"items": []}))
    free.set()
    told = texts(events)
    assert all("deadline of 0.1 s" in told[f"call_{n}"] for n in range(3))
    assert "thread cannot be ended" in told["call_0"]
    assert told["call_3"] == "The list is empty."


async def test_the_callers_context_reaches_every_tool(tmp_path):
    who = contextvars.ContextVar("who", default="nobody")

    def plain() -> str:
        return who.get()

    async def waiting() -> str:
        return who.get()

    tools = toolbox(tmp_path)
    tools.add(plain)
    tools.add(waiting)
    who.set("ada")
    assert set(texts(await run_calls(tools, ("plain", {}), ("waiting", {}))).values()) == {"ada"}


class Awkward:
    def __repr__(self):
        raise RuntimeError("no repr")


class Plain:
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: "list[int]"


def endless():
    n = 0
    while True:
        yield n
        n += 1


def large():
    return ("x" * 1_000_000 for _ in endless())


async def unending():
    while True:
        yield "x" * 1_000_000


def handed_on():
    return unending()


RESULTS = {
    "nothing": (lambda: None, "returned nothing"),
    "empty": (lambda: "", "(empty text)"),
    "number": (lambda: 3.5, "3.5"),
    "true": (lambda: True, "true"),
    "text bytes": (lambda: b"hello", "hello"),
    "raw bytes": (lambda: b"\x00\xff\x00", "3 bytes that are not text"),
    "surrogate": (lambda: "a\ud83d", "a\ufffd"),
    "dictionary": (lambda: {"a": [1, {"b": "ü"}]}, '{"a": [1, {"b": "ü"}]}'),
    "tuple keys": (lambda: {(1, 2): 3}, "(1, 2)"),
    "set": (lambda: {"s": {3, 1, 2}}, '{"s": [1, 2, 3]}'),
    "dataclass": (lambda: Point(1, [2]), '{"x": 1, "y": [2]}'),
    "object": (Plain, "Plain object"),
    "no repr": (Awkward, "could not be shown: RuntimeError"),
    "endless": (endless, "stopped after 1,000 items"),
    "endless and large": (large, "stopped after 3 items"),
    "async, endless and large": (unending, "stopped after 3 items"),
    "an async generator": (handed_on, "should be an `async def` that yields"),
    "breaks off": (lambda: (1 / n for n in (1, 0)), "could not be shown: ZeroDivisionError"),
    "error": (lambda: ValueError("a value"), "ValueError: a value"),
    "nan": (lambda: float("nan"), "NaN"),
}


@pytest.mark.parametrize("what", RESULTS)
async def test_whatever_a_tool_returns_is_one_bounded_honest_result(tmp_path, what):
    make, expected = RESULTS[what]
    tools = toolbox(tmp_path)
    tools.add(tool(name="make")(make))
    result = observed(await run_calls(tools, ("make", {})))
    assert expected in result.text
    result.text.encode()


def recursive():
    value = []
    value.append(value)
    return value


async def test_a_value_that_contains_itself_is_shown(tmp_path):
    tools = toolbox(tmp_path)
    tools.add(recursive)
    assert "[...]" in observed(await run_calls(tools, ("recursive", {}))).text


def raises_keyboard():
    raise KeyboardInterrupt


def raises_exit():
    raise SystemExit(3)


def raises_stop():
    raise StopIteration


def raises_value():
    raise ValueError("bad\ud800 thing")


def raises_own():
    raise ToolError("Give a smaller number.")


async def araises_keyboard():
    raise KeyboardInterrupt


async def araises_exit():
    raise SystemExit(3)


async def araises_cancelled():
    raise asyncio.CancelledError


async def araises_closed():
    raise GeneratorExit


async def acancels_itself():
    asyncio.current_task().cancel()
    await asyncio.sleep(9)


@pytest.mark.parametrize(
    ("fail", "words"),
    [(raises_keyboard, "KeyboardInterrupt"), (raises_exit, "SystemExit: 3"), (raises_stop, "StopIteration"),
     (raises_value, "ValueError: bad\ufffd thing"), (raises_own, "Give a smaller number."),
     (araises_keyboard, "KeyboardInterrupt"), (araises_exit, "SystemExit: 3"), (araises_cancelled, "CancelledError"),
     (araises_closed, "GeneratorExit"), (acancels_itself, "CancelledError: the tool cancelled itself")],
)  # fmt: skip
async def test_whatever_a_tool_raises_is_its_result(tmp_path, fail, words):
    tools = toolbox(tmp_path)
    tools.add(fail)
    result = observed(await run_calls(tools, (fail.__name__, {})))
    assert not result.ok
    assert result.text.startswith(words)
    assert "world/tools" not in result.text


async def test_a_traceback_names_the_line_of_the_persons_own_code(tmp_path):
    tools = toolbox(tmp_path)
    tools.add(raises_value)
    assert 'raise ValueError("bad' in observed(await run_calls(tools, ("raises_value", {}))).text


@pytest.mark.parametrize("name", ["/tmp/ipykernel_4711/99.py", r"C:\Temp\ipykernel_4711\99.py"])
async def test_a_cell_is_no_file_where_an_error_says_where_it_was_raised(tmp_path, name):
    names = {}
    exec(compile("def divide() -> float:\n    return 1 / 0\n", name, "exec"), names)
    tools = toolbox(tmp_path)
    tools.add(names["divide"])
    told = observed(await run_calls(tools, ("divide", {}))).text
    assert told == "ZeroDivisionError: division by zero\nAt (innermost last):\n  <cell>:2 in divide: "
    tools.namespace["divide"] = names["divide"]
    assert "  <cell>:2 in divide" in observed(await run_calls(tools, ("python", {"code": "divide()"}))).text


async def test_async_generators_and_forgotten_awaits_are_told_for_what_they_are(tmp_path):
    async def count():
        for n in range(3):
            yield n

    async def inner():
        return 1

    def forgetful():
        return inner()

    tools = toolbox(tmp_path)
    tools.add(count)
    tools.add(forgetful)
    told = texts(await run_calls(tools, ("count", {}), ("forgetful", {})))
    assert told["call_0"] == "[0, 1, 2]"
    assert "async def" in told["call_1"]


async def test_a_hundred_megabytes_are_bounded_and_the_whole_is_kept_for_its_owner(tmp_path):
    tools = toolbox(tmp_path, tool_result_chars=1_000)
    tools.begin_session("s1")
    tools.add(tool(name="huge")(lambda: "begin" + "x" * 100_000_000 + "end"))
    result = observed(await run_calls(tools, ("huge", {})))
    assert len(result.text) <= 1_000
    assert result.text.startswith("begin")
    assert result.text.endswith("end")
    assert "100,000,008 characters in all" in result.text
    assert result.kept_at == str(tmp_path / "home" / "results" / "s1" / "call_0.txt")
    assert result.kept_at in result.text
    assert Path(result.kept_at).stat().st_size == 100_000_008
    assert Path(result.kept_at).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("call_id", ["../../etc/x", "/abs", "", ".", "a\0b", "x" * 500, "\ud800", "c:\\x", "a/../b"])
async def test_no_call_id_leads_out_of_the_folder_of_results(tmp_path, call_id):
    tools = toolbox(tmp_path, tool_result_chars=300)
    tools.add(tool(name="long")(lambda: "y" * 1_000))
    result = observed([e async for e in tools.run([ToolCall(call_id, "long", "{}")], Stop())])
    kept = os.path.realpath(result.kept_at)
    assert kept.startswith(str(tmp_path / "home" / "results") + os.sep)
    assert len(result.text) <= 300


async def test_two_results_under_one_id_are_both_kept(tmp_path):
    tools = toolbox(tmp_path, tool_result_chars=300)
    tools.add(tool(name="long")(lambda letter: letter * 1_000))
    kept = [observed(await run_calls(tools, ("long", {"letter": letter}))).kept_at for letter in "ab"]
    assert [Path(path).read_text()[0] for path in kept] == ["a", "b"]


async def test_a_home_that_cannot_be_written_costs_the_file_and_not_the_result(tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")
    tools = toolbox(tmp_path, tool_result_chars=400)
    tools.add(tool(name="long")(lambda: "y" * 1_000))
    result = observed(await run_calls(tools, ("long", {})))
    assert result.ok
    assert result.kept_at == ""
    assert "could not be kept" in result.text


async def test_a_dataframe_is_a_table_with_its_shape_and_a_figure_is_a_picture(tmp_path):
    pandas = pytest.importorskip("pandas")
    figure = pytest.importorskip("matplotlib.figure")

    class Places(pandas.DataFrame):
        pass

    def frame():
        return Places({"a": range(10_000), "b": "x"})

    def plot():
        made = figure.Figure()
        made.subplots().plot([1, 2])
        return made

    tools = toolbox(tmp_path, vision="on")
    tools.add(frame)
    tools.add(plot)
    events = await run_calls(tools, ("frame", {}), ("plot", {}))
    table, picture = sorted((e for e in events if isinstance(e, Observed)), key=lambda event: event.call_id)
    assert "10,000 rows x 2 columns" in table.text
    assert len(table.text) < 3_000
    assert picture.text == "[image/png 640x480]"
    assert picture.images[0].mime == "image/png"


async def test_pictures_stay_away_from_a_model_that_sees_none(tmp_path):
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (4).to_bytes(4) + (3).to_bytes(4) + b"\0" * 20
    tools = toolbox(tmp_path, vision="off")
    tools.add(tool(name="shot")(lambda: png))
    result = observed(await run_calls(tools, ("shot", {})))
    assert result.text == "[image/png 4x3]"
    assert result.images == ()


# --- stopping ---------------------------------------------------------------------------------------------------------


async def stopped_after(tools, calls, seconds=0.1):
    """The events, and how long after the press the batch ended."""
    stop = Stop()
    pressed = []
    asyncio.get_running_loop().call_later(seconds, lambda: (pressed.append(time.perf_counter()), stop.press("person")))
    events = await run_calls(tools, *calls, stop=stop)
    return events, time.perf_counter() - pressed[0]


async def test_a_stop_ends_a_batch_at_once_whatever_runs_and_says_what_goes_on(tmp_path):
    free = threading.Event()

    def blocked() -> str:
        free.wait(30)
        return ""

    async def waits() -> str:
        await asyncio.sleep(30)
        return ""

    async def stubborn() -> str:
        for _ in range(2):
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                continue
        return ""

    def quick() -> str:
        return "done"

    tools = toolbox(tmp_path, Someone("x", seconds=30))
    for made in (blocked, waits, stubborn, quick):
        tools.add(made)
    calls = [("blocked", {}), ("waits", {}), ("stubborn", {}), ("quick", {}), ("terminal", {"command": "sleep 30"}),
             ("python", {"code": "import asyncio; await asyncio.sleep(30)"}), ("clarify", {"question": "?"})]  # fmt: skip
    events, seconds = await stopped_after(tools, calls)
    free.set()
    assert isinstance(events[-1], Interrupted)
    assert events[-1].by == "person"
    assert seconds < SOON
    assert texts(events) == {"call_3": "done"}
    (notice,) = [event for event in events if isinstance(event, Noticed)]
    assert "blocked" in notice.text
    assert "waits" not in notice.text


async def test_a_stop_kills_the_whole_process_group(tmp_path):
    tools = toolbox(tmp_path)
    command = "trap '' TERM; (trap '' TERM; echo $$ > inner; sleep 30) & echo $! > outer; wait"
    stop = Stop()

    async def press_when_running():
        while not ((tmp_path / "outer").exists() and (tmp_path / "inner").exists()):
            await asyncio.sleep(0.01)
        stop.press()

    pressing = asyncio.ensure_future(press_when_running())
    await run_calls(tools, ("terminal", {"command": command}), stop=stop)
    await pressing
    group = int((tmp_path / "inner").read_text())
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            break
        await asyncio.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


async def test_what_left_the_group_of_its_command_is_killed_at_the_deadline_too(tmp_path):
    (tmp_path / "leave.sh").write_text("echo $$ > away; exec sleep 30")
    command = "setsid sh leave.sh & while [ ! -s away ]; do sleep 0.01; done; sleep 30"
    events = await run_calls(toolbox(tmp_path), ("terminal", {"command": command, "seconds": 1}))
    assert "1 s" in "".join(texts(events).values())
    away = int((tmp_path / "away").read_text())
    async with asyncio.timeout(SOON):
        while lives(away):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("more", [{}, {"LONG": "x" * 100_000}], ids=["", "much environment"])
def test_what_becomes_another_program_over_and_over_is_killed_whenever_one_looks(tmp_path, more):
    """In the middle of `execve` a process has no environment for a moment, and then an empty one: one look in ten and one
    in three hundred come just then."""
    again = tmp_path / "again"
    again.write_text('#!/bin/sh\nulimit -t 20\nexec "$0"\n')
    again.chmod(0o755)
    for _ in range(300):
        environ, mark = marked({**os.environ, **more})
        restless = subprocess.Popen([again], env=environ, start_new_session=True)
        kill_marked(mark)
        try:
            assert restless.wait(SOON) == -signal.SIGKILL
        finally:
            restless.kill()


async def test_a_stop_pressed_before_begins_nothing(tmp_path):
    ran = []
    tools = toolbox(tmp_path)
    tools.add(tool(name="note")(lambda: ran.append(1)))
    stop = Stop()
    stop.press("kernel")
    events = await run_calls(tools, ("note", {}), stop=stop)
    assert events == [Interrupted(by="kernel")]
    assert ran == []


async def test_a_stop_from_another_thread_ends_a_batch(tmp_path):
    tools = toolbox(tmp_path)
    stop = Stop()
    threading.Timer(0.1, stop.press).start()
    events = await run_calls(tools, ("terminal", {"command": "sleep 30"}), stop=stop)
    assert isinstance(events[-1], Interrupted)


async def test_a_batch_that_is_given_up_leaves_no_task_behind(tmp_path):
    tools = toolbox(tmp_path)
    batch = tools.run([ToolCall("a", "terminal", json.dumps({"command": "sleep 30"}))], Stop())
    async for _ in batch:
        break
    await batch.aclose()
    await asyncio.sleep(0.05)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_batch_of_nothing_ends(tmp_path):
    assert await run_calls(toolbox(tmp_path)) == []


async def test_fifty_calls_run_with_no_more_workers_than_are_set(tmp_path):
    at_once = most = 0
    lock, nine = threading.Lock(), threading.Event()

    def count() -> str:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
            if at_once == 9:
                nine.set()
        nine.wait(SOON)
        with lock:
            at_once -= 1
        return ""

    tools = toolbox(tmp_path, tool_workers=9)
    tools.add(count)
    events = await run_calls(tools, *[("count", {})] * 50)
    assert len(texts(events)) == 50
    assert most == 9
