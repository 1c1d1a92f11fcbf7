"""What the plugin gives to a project that never heard of it: fixtures, clear errors, and nothing where it is not used.

Each project here is a folder of its own and a pytest of its own, under which warnings are errors.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import reduce
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import nbformat
import pytest

from hermes_kernel.testing.plugin import SANITIZE
from tests.contracts.own_kernels import robbed_spec

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "hermes_kernel.testing.plugin"
IMPORTS = "from hermes_kernel.testing import FastClock, ScriptedModel, call, fault, forever, say, stall\n"


class Project:
    """A folder with tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings =\n    error\n")

    def test(self, *words: str, **environ: str) -> tuple[int, str]:
        """Exit code and output of a pytest in it."""
        known = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HERMES_", "PYTEST_", "PYTHONHASH"))
        }
        # home is no person's, and the plugins that are here for our own tests take a second each time
        known |= {"HOME": str(self.folder), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environ}
        known["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        plugins = ["-p", PLUGIN, "-p", "no:cacheprovider", *["-p", "nbval.plugin"] * ("--nbval" in words)]
        asked = [sys.executable, "-m", "pytest", "-q", *plugins, *words]
        done = subprocess.run(asked, cwd=self.folder, env=known, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def notebook(self, name: str, *cells: str, kernel: str = "python3", **shown: str) -> Path:
        """A notebook of these cells; ``shown`` is what a cell printed, by its number (``c0``)."""
        made: Any = [nbformat.v4.new_code_cell(cell) for cell in cells]
        for n, cell in enumerate(made):
            if f"c{n}" in shown:
                cell.execution_count, cell.outputs = (
                    1,
                    [nbformat.v4.new_output("stream", name="stdout", text=shown[f"c{n}"])],
                )
        node = nbformat.v4.new_notebook(cells=made)
        node.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
        nbformat.write(node, self.folder / name)
        return self.folder / name


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


GOOD = """
import asyncio, os
from pathlib import Path
import pytest
from hermes_kernel import Agent, Settings

def price(sku: str) -> int:
    'What it costs.'
    return {"A1": 3}[sku]

SCRIPT = [call("price", {"sku": "A1"}), say("It costs 3 EUR.")]

def test_a_tool_is_run_and_its_result_told(hermes_agent):
    model = ScriptedModel(SCRIPT)
    turn = hermes_agent(model, [price]).ask_sync("What does A1 cost?")
    assert turn.text == "It costs 3 EUR."
    assert model.results == ["3"]

def test_the_same_over_a_wire(hermes_server, hermes_agent):
    server = hermes_server(SCRIPT)
    turn = hermes_agent(tools=[price]).ask_sync("What does A1 cost?")
    assert turn.text == "It costs 3 EUR."
    assert server.requests[1].results == ["3"]
    assert "price" in server.requests[0].tools

def test_an_agent_of_the_code_under_test_asks_the_server(hermes_server):
    hermes_server(say("Hello."))
    agent = Agent()
    assert agent.ask_sync("Hi").text == "Hello."
    agent.close()

def test_in_a_loop(hermes_server, hermes_agent):
    hermes_server([say("Hello.")])
    async def asked():
        async with hermes_agent() as agent:
            return await agent.ask("Hi")
    assert asyncio.run(asked()).text == "Hello."

def test_waits_pass_at_once(hermes_agent):
    turn = hermes_agent([fault("overloaded"), fault("rate_limit"), say("At last.")]).ask_sync("Hi")
    assert turn.text == "At last."

def test_retries_pass_at_once_over_a_wire(hermes_server, hermes_agent):
    hermes_server([fault("overloaded"), fault("server_error"), say("At last.")])
    assert hermes_agent().ask_sync("Hi").text == "At last."

def test_settings_by_name(hermes_agent):
    agent = hermes_agent([call("price", {"sku": "A1"}), say("That is all.")], [price], max_iterations=1)
    assert agent.ask_sync("Hi").outcome == "budget_exhausted"

def test_a_script_that_may_go_on(hermes_server, hermes_agent):
    hermes_server([forever(say("Yes."))])

def test_the_home_is_this_tests_own(hermes_home, tmp_path):
    assert os.environ["HERMES_HOME"] == str(hermes_home) and hermes_home.is_relative_to(tmp_path)
    assert Settings.load().home == hermes_home and Settings.load().model == ""
    assert "OPENAI_API_KEY" not in os.environ

def test_a_skill_is_found_in_it(hermes_home, hermes_agent):
    folder = hermes_home / "skills" / "tea"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\\nname: tea\\ndescription: How to make tea\\n---\\nBoil water first.\\n")
    model = ScriptedModel([call("skill_view", {"name": "tea"}), say("Water first.")])
    hermes_agent(model).ask_sync("Make tea")
    assert "Boil water first." in model.results[0]

def test_in_a_spec_it_is_the_same_each_time(hermes_agent, tmp_path):
    told = []
    for name in "ab":
        agent = hermes_agent([say("Hello.")], spec=True, home=str(tmp_path / name))
        agent.ask_sync("Hi")
        told.append((agent.session_id, agent.now()))
    assert told[0] == told[1]

def test_a_model_by_its_name(hermes_server, hermes_agent):
    server = hermes_server(say("Hello."))
    assert hermes_agent(model="small").ask_sync("Hi").text == "Hello."
    assert server.requests[0].body["model"] == "small"

def test_two_models_stand_beside_each_other(hermes_server, hermes_agent):
    first, second = hermes_server([fault("auth")]), hermes_server([say("The other one.")])
    assert hermes_agent(fallback_models=(f"b@{second.url}",)).ask_sync("Hi").text == "The other one."
"""


def test_a_project_that_uses_them_is_green_and_leaves_nothing_of_a_person(project: Project):
    project.write("test_good.py", IMPORTS + GOOD)
    code, told = project.test(HERMES_MODEL="mine", OPENAI_API_KEY="sk-mine", HERMES_HOME=str(project.folder / "mine"))
    assert (code, "13 passed" in told) == (0, True), told
    assert not (project.folder / "mine").exists()


WRONG = """
import pytest

def test_left_over(hermes_server, hermes_agent):
    hermes_server([say("One."), say("Two."), say("Three.")])
    hermes_agent().ask_sync("Hi")

def test_left_over_in_process(hermes_agent):
    hermes_agent([say("One."), call("price")]).ask_sync("Hi")

def test_too_short(hermes_agent):
    assert hermes_agent([call("todo")]).ask_sync("Hi").outcome == "failed"

def test_a_script_with_an_assert(hermes_server, hermes_agent):
    def script(request):
        assert request.messages[-1]["content"] == "Something else", "the prompt is another"
        return say("Hello.")
    hermes_server(script)
    hermes_agent().ask_sync("Hi")

def test_that_fails_is_told_of_once(hermes_agent):
    hermes_agent([say("One."), say("Two.")])
    assert False, "this one"

def test_no_steps(hermes_server):
    hermes_server("Hello.")

def test_a_step_that_is_none(hermes_agent):
    hermes_agent([say("One."), "Two."])

def test_no_script(hermes_server):
    hermes_server.url

def test_two_models(hermes_agent):
    hermes_agent([say("One.")], model="another")

def test_nothing_to_ask(hermes_agent):
    hermes_agent()

def test_a_script_without_a_wire(hermes_agent, tmp_path):
    hermes_agent([say("One.")], record=str(tmp_path / "a.cassette.jsonl"))

def test_no_such_setting(hermes_agent):
    hermes_agent([say("One.")], max_iteration=3)

def test_no_such_fault():
    fault("headache")
"""

SAID = [
    "the script was not used up: say('Two.'), say('Three.') never came, after 1 request",
    "the script was not used up: calls(price) never came, after 1 request",
    "the script is exhausted: request 2 came after its 1 steps (calls(todo)). End it in forever(",
    "AssertionError: the prompt is another",
    "AssertionError: this one",
    "a script is made of steps, such as say('Hello.'), not of 'Hello.'",
    "a script is made of steps, such as say('Hello.'); step 2 is 'Two.'",
    "hermes_server is a function: it wants a script first, as in hermes_server([say('Hello.')])",
    "hermes_agent has one model: what stands first",
    "hermes_agent has no model to ask: give it a script",
    "A script in this process has no connection that could be recorded or replayed.",
    "There is no setting max_iteration. Did you mean max_iterations?",
    "there is no step for a fault 'headache'; there are: auth, billing",
]


def test_what_is_used_wrongly_is_told_clearly_and_once(project: Project):
    project.write("test_wrong.py", IMPORTS + WRONG)
    code, told = project.test("--tb=short")
    assert code == 1
    assert [words for words in SAID if words not in told] == []
    assert "9 failed, 4 passed, 4 errors" in told


def test_a_project_without_agents_does_not_notice_it(project: Project):
    project.write("test_plain.py", "import sys\n\ndef test_it():\n    assert not HEAVY & set(sys.modules)\n".replace(
        "HEAVY", "{'hermes_kernel.core', 'hermes_kernel.settings', 'hermes_kernel.testing.public', 'openai'}"
    ))  # fmt: skip
    code, told = project.test()
    assert (code, "1 passed" in told) == (0, True), told


def test_it_is_an_entry_point_named_for_its_module():
    (found,) = (each for each in entry_points(group="pytest11") if each.value.startswith("hermes_kernel"))
    assert (found.name, found.value) == (PLUGIN, PLUGIN)


def test_loading_it_takes_no_time():
    code = "import sys, time; import pytest; t = time.perf_counter(); import hermes_kernel.testing.plugin; print(time.perf_counter() - t)"
    took = [float(subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True)) for _ in range(3)]
    assert min(took) < 0.05


def test_the_fixtures_are_explained(project: Project):
    code, told = project.test("--fixtures")
    assert code == 0
    for name, words in {
        "hermes_home": "A folder of this test's own as HERMES_HOME",
        "hermes_server": "Start a model that says what you write",
        "hermes_agent": "Make an agent that is answered so",
        "hermes_notebook": "Run a notebook from top to bottom",
    }.items():
        assert words in told.partition(f"\n{name} -- ")[2].partition(" -- ")[0]


def test_the_sanitize_file_is_told_by_a_command_and_by_its_name(project: Project):
    told = subprocess.check_output([sys.executable, "-W", "error", "-m", "hermes_kernel.testing"], cwd=ROOT, text=True)
    assert Path(told.strip()) == SANITIZE
    assert SANITIZE.is_file()
    project.notebook("ids.ipynb", "import uuid; print('session', uuid.uuid4().hex)", c0="session " + "0" * 32 + "\n")
    mild = ("-W", "ignore", "--nbval", "ids.ipynb")  # nbval starts kernels over loopback
    assert project.test(*mild)[0] == 1
    assert project.test(*mild, "--nbval-sanitize-with", "hermes")[0] == 0
    assert project.test(*mild, "--nbval-sanitize-with", told.strip())[0] == 0


def test_it_makes_no_difference_whether_the_clock_turned_a_minute_while_something_was_shown():
    def kept(shown: str) -> str:
        rules = re.findall(r"^regex: (.*)\nreplace: (.*)$", SANITIZE.read_text(), re.MULTILINE)  # as nbval reads it
        return reduce(lambda text, rule: re.sub(*rule, text), rules, shown)

    at = "2026-12-01 18:49 UTC"
    assert kept(f"`main` · {at}*") == kept(f"`main` · {at} to 2026-12-02 00:00 UTC*") == "`main` · TIME*"


SHOP = (
    "import os\nfrom hermes_kernel import Agent, tool",
    "@tool\ndef stock(tea: str) -> int:\n    'Tins that are left.'\n    return {'sencha': 3}[tea]",
    "agent = Agent(tools=[stock])\nprint(agent.ask_sync('What is short?').text)\nagent.close()",
)


def test_a_notebook_is_run_against_the_script_and_shows_what_it_showed(project: Project):
    project.notebook("shop.ipynb", *SHOP)
    project.notebook("broken.ipynb", "1 / 0")
    project.write("test_shop.py", IMPORTS + """
import pytest

def test_it(hermes_server, hermes_notebook):
    server = hermes_server([call("stock", {"tea": "sencha"}), say("Order sencha.")])
    notebook = hermes_notebook("shop.ipynb")
    assert notebook.text == "Order sencha."
    assert notebook.cells == ("", "", "Order sencha.")
    assert server.requests[1].results == ["3"]

def test_one_that_fails(hermes_notebook):
    with pytest.raises(Exception, match="ZeroDivisionError"):
        hermes_notebook("broken.ipynb")

def test_one_that_is_not_there(hermes_notebook):
    with pytest.raises(FileNotFoundError):
        hermes_notebook("nowhere.ipynb")
""")  # fmt: skip
    before = (project.folder / "shop.ipynb").read_bytes()
    code, told = project.test()
    assert (code, "3 passed" in told) == (0, True), told
    assert (project.folder / "shop.ipynb").read_bytes() == before


def test_a_kernel_whose_port_is_taken_before_it_binds_it_is_started_again(project: Project):
    """IPython's dies without the one of its shell; without the one of what it shows it hangs, and is given up."""
    robbed = {"read": "shell_port", "compared": "shell_port", "waited": "iopub_port"}
    starts = [robbed_spec(project.folder, name, 1, port) for name, port in robbed.items()]
    for name in robbed:
        project.notebook(f"{name}.ipynb", "print(6 * 7)", kernel=name, c0="42\n")
    project.write("test_read.py", """
def test_it(hermes_notebook):
    assert hermes_notebook("read.ipynb").text == "42"
""")  # fmt: skip
    asked = ("-W", "ignore", "--nbval", "--nbval-kernel-startup-timeout", "20", "compared.ipynb", "waited.ipynb")
    code, told = project.test(*asked, "test_read.py", JUPYTER_PATH=str(project.folder))
    assert (code, "3 passed" in told) == (0, True), told
    assert [each.read_text() for each in starts] == ["xx", "xx", "xx"]


SHOWN = "import os; print(*(os.environ.get(n) for n in ('HERMES_REPLAY', 'HERMES_MODEL', 'PYTHONHASHSEED')))"


def test_a_notebook_with_a_cassette_beside_it_is_replayed_unless_it_is_to_be_live(project: Project):
    place = project.folder / "a.cassette.jsonl"
    place.write_text("")
    project.notebook("a.ipynb", SHOWN, c0=f"{place} None 0\n")
    project.notebook("b.ipynb", SHOWN, c0="None mine None\n")
    asked = ("-W", "ignore", "--nbval", "a.ipynb", "b.ipynb")
    code, told = project.test(*asked, HERMES_MODEL="mine")
    assert code == 0, told
    code, told = project.test(*asked, "--hermes-live", HERMES_MODEL="mine")
    assert code == 1
    assert "None mine None" in told
    assert json.loads(project.folder.joinpath("a.ipynb").read_text())["cells"]
