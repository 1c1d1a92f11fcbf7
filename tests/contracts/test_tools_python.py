"""`python`: the namespace is the notebook's, what is shown is told, and it can always be ended. Without a shell, in a
plain IPython shell, and in a real kernel."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from hermes_kernel.core.events import Interrupted, Observed
from hermes_kernel.world.interrupt import pressing as pressed_by
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import inside_user_code, tool
from tests.contracts.toolbox import observed, run_calls, toolbox
from tests.kernels import Started
from tests.soon import SOON


async def run_python(tools, code):
    return observed(await run_calls(tools, ("python", {"code": code})))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("1 + 1", "2"),
        ("```python\n1 + 1\n```", "2"),
        ("print('a'); 3", "a\n3"),
        ("x = 1", "Done. Nothing was printed: print(...) a value to see it."),
        ("None", "Done. Nothing was printed: print(...) a value to see it."),
        ("5;", "Done. Nothing was printed: print(...) a value to see it."),
        ("", "Done. Nothing was printed: print(...) a value to see it."),
        ("import sys\nprint('err', file=sys.stderr)", "err"),
        ("import asyncio\nawait asyncio.sleep(0)\nprint('in')\nawait asyncio.sleep(0, 'out')", "in\n'out'"),
        ("print('\\x1b[31mred\\x1b[0m')", "red"),
        ("print('a\\ud800')", "a\ufffd"),
        ("'é' * 3", "'ééé'"),
        ("def f():\n    return 4\nf()", "4"),
        ("async def g():\n    return 5\nawait g()", "5"),
    ],
)
async def test_what_is_printed_and_the_last_value_are_told(tmp_path, capsys, code, text):
    assert (await run_python(toolbox(tmp_path), code)).text == text


@pytest.mark.parametrize(
    "code", ["def f(:", "def f():\n    1 / 0\nf()", "import sys\nprint(sys._getframe().f_code.co_filename)"]
)
async def test_what_goes_wrong_is_told_in_the_same_words_however_much_code_was_run_before(tmp_path, code):
    tools = toolbox(tmp_path)
    before = (await run_python(tools, code)).text
    await run_python(tools, "def g(): 1 / 0")
    assert (await run_python(tools, code)).text == before
    tools.add(tool(name="g")(tools.namespace["g"]))
    assert "  <python tool>:1 in g: def g(): 1 / 0" in observed(await run_calls(tools, ("g", {}))).text


async def test_variables_stay_and_are_the_namespaces_own(tmp_path):
    namespace = {"given": 20}
    tools = toolbox(tmp_path, namespace=namespace)
    await run_python(tools, "mine = given + 1\nclass C: pass")
    assert namespace["mine"] == 21
    assert (await run_python(tools, "mine, C.__module__")).text == "(21, '__main__')"


@pytest.mark.parametrize(
    ("code", "last", "also"),
    [
        ("x = 1\nx / 0", "ZeroDivisionError: division by zero", ":2 in <module>: x / 0"),
        ("def f():\n    raise ValueError('bad')\nf()", "ValueError: bad", ":2 in f: raise ValueError('bad')"),
        ("1 +", "SyntaxError: invalid syntax", "1 +"),
        ("import json\njson.loads('{')", "line 1 column 2 (char 1)", ":2 in <module>: json.loads('{')"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: the code was interrupted", ""),
        ("exit()", "SystemExit: None", ""),
        ("import asyncio\nraise asyncio.CancelledError", "CancelledError: the code cancelled itself", ""),
        ("raise StopIteration(3)", "StopIteration: 3", ""),
        ("print('before')\n1/0", "ZeroDivisionError: division by zero", "before\n"),
        ("x = '\\0'; eval('\\0')", "cannot contain null bytes", ""),
    ],
)
async def test_an_error_is_a_short_traceback_of_the_codes_own_lines(tmp_path, capsys, code, last, also):
    result = await run_python(toolbox(tmp_path), code)
    assert not result.ok
    assert last in result.text.splitlines()[-1]
    assert also in result.text
    assert "\x1b" not in result.text
    assert "world/tools" not in result.text
    assert len(result.text.splitlines()) < 14


async def test_a_recursion_without_end_is_an_error_of_a_few_lines(tmp_path):
    result = await run_python(toolbox(tmp_path), "def f(): return f()\nf()")
    assert "RecursionError" in result.text
    assert len(result.text.splitlines()) < 12


async def test_another_tasks_prints_are_not_told_and_streams_are_as_before(tmp_path, capsys):
    async def painter():
        while True:
            print("painting")
            await asyncio.sleep(0.01)

    before = sys.stdout, sys.stderr
    painting = asyncio.ensure_future(painter())
    result = await run_python(toolbox(tmp_path), "import asyncio\nprint('mine')\nawait asyncio.sleep(0.1)")
    painting.cancel()
    assert result.text == "mine"
    assert (sys.stdout, sys.stderr) == before
    assert "painting" in capsys.readouterr().out


async def test_two_agents_code_at_once_each_hears_its_own_and_streams_are_as_before(tmp_path, capsys):
    before = sys.stdout
    code = "import asyncio\nfor n in range(5):\n    print({0!r})\n    await asyncio.sleep({1})"
    one, two = await asyncio.gather(
        run_python(toolbox(tmp_path / "1"), code.format("one", 0.03)),
        run_python(toolbox(tmp_path / "2"), code.format("two", 0.01)),
    )
    assert set(one.text.split()) == {"one"}
    assert set(two.text.split()) == {"two"}
    assert sys.stdout is before


async def test_output_without_end_is_bounded(tmp_path, capsys):
    tools = toolbox(tmp_path, tool_result_chars=2_000)
    result = await run_python(tools, "for n in range(300_000): print('x' * 20)\n'last'")
    assert len(result.text) <= 2_000
    assert result.kept_at


@pytest.mark.parametrize(
    "code",
    ["import time\ntime.sleep(30)", "while True: pass", "import asyncio\nawait asyncio.sleep(30)",
     "import asyncio\nwhile True:\n    try:\n        import time; time.sleep(30)\n    except Exception: pass"],
)  # fmt: skip
async def test_code_past_its_deadline_is_ended(tmp_path, code):
    before = signal.getsignal(signal.SIGALRM)
    tools = toolbox(tmp_path, tool_seconds=0.3)
    began = time.perf_counter()
    result = await run_python(tools, code)
    assert time.perf_counter() - began < 5
    assert not result.ok
    assert "deadline of 0.3 s" in result.text
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


async def test_a_deadline_ends_only_the_code_it_was_set_for(tmp_path):
    async def other() -> str:
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            await asyncio.sleep(0)
            time.sleep(0.05)
        return "not disturbed"

    short, long = toolbox(tmp_path / "1", tool_seconds=0.2), toolbox(tmp_path / "2", tool_seconds=5)
    short.add(tool(name="other", seconds=5)(other))
    waiting = "import asyncio\nawait asyncio.sleep({})\n'woke'"
    events, later = await asyncio.gather(
        run_calls(short, ("python", {"code": waiting.format(9)}), ("other", {})), run_python(long, waiting.format(0.5))
    )
    told = {event.call_id: event.text for event in events if isinstance(event, Observed)}
    assert "deadline of 0.2 s" in told["call_0"]
    assert told["call_1"] == "not disturbed"
    assert later.text == "'woke'"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def pressing(stop):
    """What the kernel does at SIGINT while a turn runs."""

    def handle(_, frame):
        stop.press("person")
        if inside_user_code(frame):
            raise KeyboardInterrupt

    return handle


@pytest.mark.parametrize(
    "code",
    ["import time\nprint('begun', flush=True)\ntime.sleep(60)", "while True: pass", "import asyncio\nawait asyncio.sleep(60)",
     "class Slow:\n    def __repr__(self):\n        import time; time.sleep(60)\nSlow()"],
    ids=["sleep", "loop", "await", "repr"],
)  # fmt: skip
async def test_an_interrupt_ends_running_code_at_once_and_a_second_one_changes_nothing(tmp_path, capsys, code):
    stop = Stop()
    before = signal.signal(signal.SIGINT, pressing(stop))
    sent = []

    def send():
        for _ in range(2):
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.02)

    timer = threading.Timer(0.3, send)
    timer.start()
    try:
        events = await run_calls(toolbox(tmp_path), ("python", {"code": code}), ("todo", {"items": []}), stop=stop)
        seconds = time.perf_counter() - sent[0]
        timer.join()
        await asyncio.sleep(0.05)
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(events[-1], Interrupted)
    assert seconds < SOON
    told = {event.call_id: event.text for event in events if isinstance(event, Observed)}
    assert told["call_1"] == "The list is empty."
    if "await" not in code:
        assert "KeyboardInterrupt" in told["call_0"]


async def test_an_async_tool_that_blocks_the_loop_is_ended_by_an_interrupt_too(tmp_path):
    async def rude() -> str:
        time.sleep(60)
        return ""

    tools = toolbox(tmp_path)
    tools.add(rude)
    stop = Stop()
    before = signal.signal(signal.SIGINT, pressing(stop))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    try:
        events = await run_calls(tools, ("rude", {}), stop=stop)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - began < 5
    assert isinstance(events[-1], Interrupted)


def test_no_frame_of_ours_counts_as_user_code():
    assert not inside_user_code(sys._getframe())
    assert not inside_user_code(None)


# --- in IPython -------------------------------------------------------------------------------------------------------

IN_SHELL = """
import asyncio, json, sys
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
from tests.contracts.toolbox import observed, run_calls, toolbox

class Shell(InteractiveShell):
    def ask_exit(self):
        sys.exit("the process was ended")

shell = Shell.instance()
tools = toolbox(Path(sys.argv[1]), shell=shell, approvals="allow")

def run(code):
    return observed(asyncio.run(run_calls(tools, ("python", {"code": code})))).text

shell.run_cell("given = 20", store_history=True)
count, outs, ins = shell.execution_count, dict(shell.user_ns["Out"]), list(shell.user_ns["In"])
told = [run(code) for code in json.loads(sys.argv[2])]
assert shell.execution_count == count and dict(shell.user_ns["Out"]) == outs and list(shell.user_ns["In"]) == ins
assert "publish" not in vars(shell.display_pub) or not hasattr(shell.display_pub.publish, "done")
print("\\n" + json.dumps(told))
"""


def in_shell(tmp_path, *codes):
    done = subprocess.run(
        [sys.executable, "-c", IN_SHELL, str(tmp_path), json.dumps(codes)],
        capture_output=True, text=True, check=False, env={**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_in_ipython_magics_displays_and_exit_work_and_no_cell_is_counted(tmp_path):
    told = in_shell(
        tmp_path,
        "given + 1",
        "%pwd",
        "!echo shelled",
        "x = !echo caught\nx[0]",
        "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>bold</b>'))\ndisplay(Markdown('# hi'))",
        "import base64\nfrom IPython.display import Image\nImage(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAYAAAC09K7GAAAA'))",
        "exit()",
        "%%capture out\nprint('hidden')",
        "1/0",
        "%nosuchmagic",
        "get_ipython() is not None",
        "?len",
    )
    assert told[0] == "21"
    assert told[1] == repr(str(Path.cwd()))
    assert told[2] == "shelled"
    assert told[3] == "'caught'"
    assert told[4].split() == ["bold", "#", "hi"]
    assert "image/png 4x3 shown in the cell" in told[5]
    assert "SystemExit: the kernel stays" in told[6]
    assert told[7] == "Done. Nothing was printed: print(...) a value to see it."
    assert told[8].endswith("ZeroDivisionError: division by zero")
    assert "nosuchmagic" in told[9]
    assert told[10] == "True"


def test_a_child_that_code_forks_never_goes_on_with_the_turn(tmp_path):
    code = """
import asyncio, os
{}
child = os.fork()
if not child:
    {}
else:
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ends = ["pass", "raise SystemExit(3)", "1 / 0", "exit()"]
    told = in_shell(tmp_path, *(code.format(wait, end) for wait in ("", "await asyncio.sleep(0)") for end in ends))
    assert told == ["0", "3", "1", "1"] * 2


def test_code_that_takes_away_what_the_notebook_lives_by_leaves_it_standing(tmp_path):
    told = in_shell(
        tmp_path,
        "globals().clear()",
        "%pwd",
        "get_ipython = _oh = In = Out = None",
        "%pwd",
        "import sys\nsys.stdout = sys.stderr = None",
        "print('heard')",
        "__name__",
    )
    assert told[1] == told[3] == repr(str(Path.cwd()))
    assert told[5:] == ["heard", "'__main__'"]


# --- in a real kernel -------------------------------------------------------------------------------------------------

SETUP = """
import asyncio, json, signal, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.contracts.toolbox import observed, run_calls, toolbox
from hermes_kernel.core.events import Interrupted
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import inside_user_code, tool
tools = toolbox(Path({folder!r}), shell=get_ipython(), vision="auto")
def run(code):
    return run_calls(tools, ("python", {{"code": code}}))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel")
    started = Started(env={**os.environ, "IPYTHONDIR": str(folder / "ipython")})
    try:
        execute(started.client, SETUP.format(root=str(Path.cwd()), folder=str(folder)))
        yield started.manager, started.client
    finally:
        started.close()


def execute(client, code, while_running=lambda: None):
    """All output messages of a cell, and its reply."""
    asked = client.execute(textwrap.dedent(code))
    while_running()
    outputs = []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != asked:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
        outputs.append((message["msg_type"], message["content"]))
    return outputs, client.get_shell_msg(timeout=60)["content"]


def printed(outputs):
    return "".join(content["text"] for kind, content in outputs if kind == "stream")


def test_in_a_kernel_a_table_and_a_figure_appear_in_the_cell_and_are_told(kernel):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    _, client = kernel
    outputs, reply = execute(
        client,
        """
        import pandas as pd
        df = pd.DataFrame({"a": [1, 2]})
        first = observed(await run("df['b'] = df.a * 2\\ndf"))
        second = observed(await run("import matplotlib.pyplot as plt\\nplt.plot([1, 2]);"))
        third = observed(await run("plt.figure(); plt.plot([1, 2])\\n1/0"))
        assert "ZeroDivisionError" in third.text and "image/png" in third.text, third.text
        print(json.dumps([first.text, second.text, [i.mime for i in second.images], list(df.columns), list(Out)]))
        """,
    )
    assert reply["status"] == "ok", reply
    told = json.loads(printed(outputs).splitlines()[-1])
    shown = [content["data"] for kind, content in outputs if kind == "display_data"]
    assert "text/html" in shown[0]
    assert "image/png" in shown[1]
    assert [kind for kind, _ in outputs if kind in ("execute_result", "error")] == []
    assert told[0].splitlines()[0].split() == ["a", "b"]
    assert "image/png" in told[1]
    assert told[2] == ["image/png"]
    assert told[3] == ["a", "b"]
    assert told[4] == []


def test_in_a_kernel_a_cell_is_given_no_more_than_a_notebook_can_keep_and_the_model_is_told_so(kernel):
    _, client = kernel
    outputs, reply = execute(
        client,
        """
        from IPython.display import HTML, Image, clear_output, display
        codes = [
            "for n in range(150): print('x' * 9_999)\\nprint('last')",
            "'y' * 3_000_000",
            "display(Image(b'\\\\x89PNG\\\\r\\\\n\\\\x1a\\\\n' + bytes(20_000_000), format='png'))",
            "for n in range(6): display(HTML('<b>z</b>' * 500_000))",
            "for n in range(6): clear_output(); display(HTML('<i>w</i>' * 500_000))",
        ]
        results = [observed(await run(code)) for code in codes]
        print(json.dumps([[result.ok, result.text[-200:]] for result in results]))
        """,
    )  # fmt: skip
    assert reply["status"] == "ok", reply
    told = json.loads(printed(outputs).splitlines()[-1])
    assert [ok for ok, _ in told] == [True] * 5
    assert told[0][1].endswith("last")
    assert told[2][1].endswith("image/png: 26,666,680 characters, more than a cell is given]")
    words = printed(outputs)
    assert words.count("more was shown than a cell is given") == 1
    assert len(words) < 1_100_000
    value, picture, *pages = (content["data"] for kind, content in outputs if kind == "display_data")
    assert len(value["text/plain"]) < 1_100_000
    assert list(picture) == ["text/plain"]
    assert ["text/html" in page for page in pages] == [True, True, False, False, False, False] + [True] * 6


def test_in_a_kernel_an_error_of_the_code_is_told_and_is_no_error_of_the_cell(kernel):
    _, client = kernel
    outputs, reply = execute(client, "print(observed(await run('print(1)\\n1/0')).text)")
    assert reply["status"] == "ok"
    assert "ZeroDivisionError" in printed(outputs)
    assert not any(kind == "error" for kind, _ in outputs)


def test_in_a_kernel_exit_ends_the_code_and_not_the_kernel(kernel):
    _, client = kernel
    execute(client, "print(observed(await run('exit()')).text)")
    _, reply = execute(client, "'alive'")
    assert reply["status"] == "ok"
    assert not reply["payload"]


@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "import asyncio; await asyncio.sleep(60)"])
def test_in_a_kernel_an_interrupt_ends_the_code_and_the_next_cell_works(kernel, code):
    manager, client = kernel
    outputs, reply = execute(
        client,
        f"""
        stop, began = Stop(), []
        def handle(_, frame):
            began.append(time.perf_counter())
            stop.press("person")
            if inside_user_code(frame):
                raise KeyboardInterrupt
        before = signal.signal(signal.SIGINT, handle)
        try:
            events = await run_calls(tools, ("python", {{"code": {code!r}}}), stop=stop)
        finally:
            signal.signal(signal.SIGINT, before)
        print(json.dumps([type(events[-1]).__name__, time.perf_counter() - began[0]]))
        """,
        lambda: (time.sleep(1), manager.interrupt_kernel()),
    )
    assert reply["status"] == "ok", reply
    last, seconds = json.loads(printed(outputs).splitlines()[-1])
    assert last == "Interrupted"
    assert seconds < SOON
    assert execute(client, "1")[1]["status"] == "ok"


STORM = """
import asyncio, os, random, signal, sys, threading, time
from pathlib import Path
from hermes_kernel.core.events import Interrupted
from hermes_kernel.world.interrupt import pressing
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import inside_user_code, tool
from tests.contracts.toolbox import run_calls, toolbox

CODES = ["while True: pass", "import time\\nfor n in range(10**6): print(n); time.sleep(0)", "import asyncio\\nwhile True: await asyncio.sleep(0)",
         "import json\\nwhile True: json.dumps({'a': [1]})", "class R:\\n    def __repr__(self):\\n        while True: pass\\nR()"]

async def one(dice):
    stop = Stop()
    with pressing(stop.press, inside_user_code):
        def send():
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(dice.random() * 0.003)
        timer = threading.Timer(dice.random() * 0.02, send)
        timer.start()
        events = await run_calls(toolbox(Path(sys.argv[1])), ("python", {"code": dice.choice(CODES)}), stop=stop)
        while timer.is_alive():
            await asyncio.sleep(0.001)
    assert isinstance(events[-1], Interrupted), events

async def main():
    dice, streams = random.Random(int(sys.argv[2])), (sys.stdout, sys.stderr)
    for _ in range(60):
        await one(dice)
        assert (sys.stdout, sys.stderr) == streams
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    sys.stderr.write("survived")

asyncio.run(main())
"""


async def test_a_loop_that_is_told_twice_of_one_interrupt_goes_on():
    stop, loop, trouble = Stop(), asyncio.get_running_loop(), []
    loop.set_exception_handler(lambda _, told: trouble.append(told))  # also a deadline that ends a wait
    with pressed_by(stop.press, inside_user_code):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(2):  # as after an exception that left it between its look and its work
            loop._process_events(loop._selector.select(0))
        await asyncio.sleep(0)
    assert (stop.by, trouble) == ("person", [])


@pytest.mark.parametrize("seed", [1, 2])
def test_interrupts_at_any_moment_end_the_code_and_never_the_loop(tmp_path, seed):
    done = subprocess.run(
        [sys.executable, "-c", STORM, str(tmp_path), str(seed)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr.endswith("survived")  # Python itself tells of an exception that met a weak reference's callback
