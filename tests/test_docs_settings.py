"""What the page about settings says is so: each is on it once, its examples are taken, and the order in which they win."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_kernel.settings import RANGES, Settings
from tests.examples import DOCS, blocks, run
from tests.pages import GROUPS

PAGE = (DOCS / "settings.md").read_text(encoding="utf-8")
IN_A_NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "magics")
result = shell.run_cell(sys.stdin.read())
settings = shell.run_line_magic("hermes", "config").value
print("FOUND", settings.max_iterations, settings.stale_seconds, settings.approvals, result.success)
"""


@pytest.fixture
def _away(tmp_path, monkeypatch):
    """Nothing of the person's is read, and what an example sets is forgotten."""
    for name in os.environ:
        if name.startswith(("HERMES_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HERMES_MAX_ITERATIONS", "")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))


def test_each_setting_stands_in_one_group():
    told = [name for names in GROUPS.values() for name in names]
    assert sorted(told) == sorted(RANGES)
    assert [f"<!-- settings: {group} -->" in PAGE for group in GROUPS] == [True] * len(GROUPS)


def test_a_file_as_on_the_page_is_taken(tmp_path):
    [text] = blocks("settings.md", "toml")
    (tmp_path / "kernel.toml").write_text(text, encoding="utf-8")
    settings = Settings.load(home=tmp_path, environ={})
    assert settings.model == "qwen3:8b"
    assert settings.fallback_models[1] == "gpt-x@https://models.example/v1#EXAMPLE_KEY"
    assert (settings.learning, settings.max_iterations, settings.approvals) == (False, 40, "ask")
    assert (list(settings.mcp_servers), list(settings.notify)) == (["time"], ["team"])


def test_an_environment_as_on_the_page_is_taken(tmp_path):
    [text] = blocks("settings.md", "bash")
    said = subprocess.run(["bash", "-c", f"{text}\nenv -0"], capture_output=True, text=True, check=True, env={}).stdout
    environ = dict(line.split("=", 1) for line in said.split("\0") if "=" in line)
    settings = Settings.load(home=tmp_path, environ=environ)
    assert settings.fallback_models == ("qwen3:4b", "llama3.2")
    assert (settings.learning, settings.base_url) == (False, "http://127.0.0.1:11434/v1")
    assert settings.mcp_servers["time"]["command"] == "python"


def test_magics_as_on_the_page_are_taken(tmp_path):
    [text] = blocks("settings.md", "ipython")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HERMES_SCHEDULE_WATCH": "off",
        "IPYTHONDIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", IN_A_NOTEBOOK], input=text, capture_output=True, text=True, check=False, env=environ,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert "FOUND 20 30.0 deny True" in done.stdout, done.stdout + done.stderr


@pytest.mark.usefixtures("_away")
async def test_python_as_on_the_page_gives_what_it_says():
    for block in blocks("settings.md", "python"):
        assert await run(block, {}) == block.count("# →")


def test_what_is_said_first_wins(tmp_path):
    (tmp_path / "kernel.toml").write_text('model = "of the file"\n', encoding="utf-8")
    places = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    assert Settings.load(home=tmp_path, environ=places).sources["base_url"] == "OPENAI_BASE_URL"
    assert Settings.load(home=tmp_path, environ=places).model == "of the file"
    places |= {"HERMES_MODEL": "of the shell", "HERMES_BASE_URL": "http://127.0.0.1:2/v1"}
    assert Settings.load(home=tmp_path, environ=places).model == "of the shell"
    assert Settings.load(home=tmp_path, environ=places).sources["base_url"] == "HERMES_BASE_URL"
    assert Settings.load(home=tmp_path, environ=places, model="said").model == "said"


def test_every_option_that_the_page_names_as_a_place_is_one():
    from hermes_kernel.cli import _parser
    from magics.options import OPTIONS

    row = re.search(r"an option of a cell or of `hermes-kernel ask`: (.*?) \|", PAGE)
    assert row
    options = re.findall(r"`(--\w+)`", row[1])
    assert set(options) <= set(OPTIONS)
    for option in options:
        value = [] if option == "--plain" else ["1"]
        assert _parser().parse_args(["ask", option, *value, "hello"]).prompt == "hello"
