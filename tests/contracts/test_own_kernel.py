"""A Python of one's own answers as the notebook's does: what is shown is told, variables stay, and it is nobody else's."""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hermes_kernel.core.events import Approved, Observed
from hermes_kernel.world.kernels.living import Living
from hermes_kernel.world.tools.capture import Seen
from tests.contracts.own_kernels import FRESH, PID, gone, own_kernel, run_own, tools_of
from tests.contracts.toolbox import Someone, run_calls

SECRET = "sk-own-4711-secret"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


def theirs(folder):
    """What a person has in IPython's folder: a file that is run where they start a Python."""
    startup = folder / "ipython" / "profile_default" / "startup"
    if not startup.exists():
        startup.mkdir(parents=True)
        (startup / "00-theirs.py").write_text("theirs = 1")
    return folder / "ipython"


@pytest.fixture(scope="module")
def kernel(folder):
    """One for all; each test has an event loop of its own."""
    with pytest.MonkeyPatch.context() as environ, own_kernel(folder, secrets=lambda: (SECRET,)) as made:
        for name in ("OPENAI_API_KEY", "HERMES_API_KEY", "MY_SERVICE_TOKEN"):
            environ.setenv(name, "sk-another")
        environ.setenv("INNOCENT", f"bearer {SECRET}")
        environ.setenv("PLAIN", "kept")
        environ.setenv("IPYTHONDIR", str(theirs(folder)))
        assert asyncio.run(made.tool().run(code="40 + 2")).text == "42"
        yield made


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("1 + 1", "2"),
        ("```python\n1 + 1\n```", "2"),
        ("print('a'); 3", "a\n3"),
        ("unused = 1", "Done. Nothing was printed: print(...) a value to see it."),
        ("", "Done. Nothing was printed: print(...) a value to see it."),
        ("5;", "Done. Nothing was printed: print(...) a value to see it."),
        ("import sys\nprint('err', file=sys.stderr)", "err"),
        ("import asyncio\nprint('in')\nawait asyncio.sleep(0, 'out')", "in\n'out'"),
        ("print('\\x1b[31mred\\x1b[0m')", "red"),
        ("print('10%\\r100%')", "100%"),
        ("!echo shell", "shell"),
        ("%%bash\necho cell", "cell"),
        ("from IPython.display import Markdown, display\ndisplay(Markdown('**bold**'))", "**bold**"),
        ("from IPython.display import HTML\nHTML('<b>made</b> <i>up</i>')", "made   up"),
        ("from IPython.display import JSON\nJSON({'a': 1})", "[text/plain, application/json]"),
        ("print('x' * 300_000, end='')", "x" * 300_000),
    ],
)
async def test_what_is_printed_and_the_last_value_are_told(kernel, folder, code, text):
    result = await run_own(kernel, folder, code, tool_result_chars=1_000_000)
    assert (result.text.strip(), result.ok) == (text, True)


@pytest.mark.parametrize(
    ("code", "last", "also"),
    [
        ("x = 1\nx / 0", "ZeroDivisionError: division by zero", "line 2: x / 0"),
        ("def f():\n    raise ValueError('bad')\nf()", "ValueError: bad", "line 2, in f: raise ValueError('bad')"),
        ("1 +", "SyntaxError: invalid syntax", "1 +"),
        ("import json\njson.loads('{')", "line 1 column 2 (char 1)", "line 2: json.loads('{')"),
        ("def f(): return f()\nf()", "RecursionError: maximum recursion depth exceeded", "in f: def f(): return f()"),
        (
            "try:\n    1/0\nexcept Exception as e:\n    raise OSError('two') from e",
            "OSError: two",
            "line 4: raise OSError",
        ),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: the code was interrupted", ""),
        ("import sys\nsys.exit(3)", "SystemExit: 3", ""),
        ("print('before')\n1/0", "ZeroDivisionError: division by zero", "before\n"),
        ("class E(Exception):\n    def __str__(self): return '\\x1b[31mred'\nraise E", "E: red", ""),
        ("input('name? ')", "does not support input requests.", "line 1: input("),
        ("import getpass\ngetpass.getpass()", "does not support input requests.", ""),
    ],
)
async def test_an_error_is_a_short_traceback_and_input_is_one(kernel, folder, code, last, also):
    result = await run_own(kernel, folder, code)
    assert not result.ok
    assert last in result.text.splitlines()[-1]
    assert also in result.text
    assert "\x1b" not in result.text
    assert len(result.text.splitlines()) < 14


def test_variables_stay_from_one_event_loop_to_another(kernel, folder):
    asyncio.run(run_own(kernel, folder, "kept = 20"))
    assert asyncio.run(run_own(kernel, folder, "kept + 1, _")).text.startswith("(21,")


async def test_what_is_run_is_no_cell_so_that_nothing_large_is_held(kernel, folder):
    await run_own(kernel, folder, "'first'")
    assert (await run_own(kernel, folder, "len(In)")).text == (await run_own(kernel, folder, "len(In)")).text


async def test_figures_are_pictures_and_tables_are_text(kernel, folder):
    drawn = await run_own(
        kernel, folder, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.figure()\nplt.plot([3, 4]);"
    )
    assert [image.mime for image in drawn.images] == ["image/png"] * 2
    assert drawn.text.count("[image/png ") == 2
    assert "shown in the cell" not in drawn.text
    unseen = await run_own(kernel, folder, "plt.plot([1, 2]);", vision="off")
    assert unseen.images == ()
    table = await run_own(kernel, folder, "import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': [3, 4]})")
    assert table.text.split() == ["a", "b", "0", "1", "3", "1", "2", "4"]


async def test_help_is_told(kernel, folder):
    assert "Signature: len(obj, /)" in (await run_own(kernel, folder, "len?")).text


async def test_it_works_in_its_folder_and_knows_no_secret(kernel, folder):
    code = "import os\nprint(os.getcwd())\nprint(sorted(k for k, v in os.environ.items() if 'sk-' in v), os.environ['PLAIN'])"
    where, kept = (await run_own(kernel, folder, code)).text.splitlines()
    assert Path(where) == folder.resolve()
    assert kept == "[] kept"


async def test_a_persons_ipython_is_not_touched_by_it(kernel, folder):
    told = await run_own(kernel, folder, "%history -g\n'theirs' in globals()")
    assert told.text == "False", "neither what they ran nor what they have run at each start is there"
    left = [path.name for path in theirs(folder).rglob("*")]
    assert sorted(left) == ["00-theirs.py", "profile_default", "startup"]


async def test_its_own_folder_of_ipython_goes_with_it_and_one_that_a_killed_process_left_goes_too(folder):
    left = Path(tempfile.gettempdir(), "hermes-python-0123abcd")
    (left / "profile_default").mkdir(parents=True)
    with own_kernel(folder) as made:
        own = Path((await run_own(made, folder, "print(get_ipython().ipython_dir)")).text.strip())
        assert own.is_dir()
        assert not left.exists()
        await made.close()
        assert not own.exists()


async def test_calls_of_one_reply_run_in_their_order(kernel, folder):
    codes = ["import time; steps = [1]; time.sleep(0.2)", "steps.append(2)", "steps"]
    events = await run_calls(tools_of(kernel, folder), *(("python", {"code": code}) for code in codes))
    assert [event.text for event in events if isinstance(event, Observed)][-1] == "[1, 2]"


async def test_a_long_answer_is_cut_and_kept_and_a_longer_one_is_not_held(kernel, folder):
    cut = await run_own(kernel, folder, "for n in range(20_000): print(n)", tool_result_chars=5_000)
    assert len(cut.text) < 6_000
    assert "19999" in Path(cut.kept_at).read_text()
    long = await run_own(kernel, folder, "for n in range(50): print('y' * 100_000)", tool_result_chars=1_000)
    assert "3,000,050 more characters are left out" in Path(long.kept_at).read_text()


async def test_what_is_too_large_to_be_read_is_told_by_its_size(kernel, folder):
    once = "import sys; sys.stdout.write('z' * 9_000_000 + '\\n')"  # print writes the end of the line apart
    large = await run_own(kernel, folder, f"{once}\n'and then'")
    assert large.text.strip().startswith("[9,000,032 bytes")
    assert large.text.endswith("too many to be told]\n'and then'")


async def test_questions_that_cross_with_answers_take_none_of_them_away(folder):
    living = Living("python3", folder, os.environ)
    try:
        await living.start(60)
        for n in range(120):
            for _ in range(3):
                await living._ask("kernel_info_request", {})
                await asyncio.sleep(0.0005 * (n % 7))
            assert await asyncio.wait_for(living.run("1", Seen("off")), 30) == ""
    finally:
        await living.end(now=True)


async def test_code_that_runs_commands_needs_a_persons_word(kernel, folder):
    person = Someone("Deny")
    call = ("python", {"code": "import shutil\nshutil.rmtree('precious')"})
    events = await run_calls(tools_of(kernel, folder, person=person), call)
    assert [event.allowed for event in events if isinstance(event, Approved)] == [False]
    assert person.asked


async def test_a_kernel_in_which_a_cell_is_a_prompt_runs_python(folder):
    with own_kernel(folder, "hermes") as hermes:
        assert (await run_own(hermes, folder, "x = 6\nx * 7")).text == "42"
        assert (await run_own(hermes, folder, "hermes.settings.api_key if 0 else x")).text == "6"
        assert "SyntaxError" in (await run_own(hermes, folder, "say hello to the person")).text


async def test_it_runs_inside_a_kernels_own_loop_and_ends_with_it(folder):
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.kernels.own import OwnKernel
inner = OwnKernel(cwd=Path("."), clock=SystemClock(), seconds=9)
(await inner.tool().run(code="import os; print(os.getpid(), os.getppid())")).text
"""
    with own_kernel(folder) as outer:
        told = await run_own(outer, folder, code)
        inner, parent = map(int, told.text.strip("'\\n").split())
        assert parent == int((await run_own(outer, folder, PID)).text)
        await outer.close()
    assert gone(inner)


def test_importing_it_loads_nothing_heavy():
    code = "import sys, hermes_kernel.world.kernels; print([m for m in ('zmq', 'jupyter_client', 'traitlets') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert done.stdout == "[]\n"


async def test_nothing_is_said_of_lost_variables_where_none_were_lost(kernel, folder):
    assert FRESH not in (await run_own(kernel, folder, "1")).text
