"""What holds for every page of the documentation: its tables are those of the code, its links lead somewhere, the tests it
names exist, and so do the commands, settings and variables."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from hermes_kernel.cli import _parser
from hermes_kernel.given import OPENAI_NAMES, TARGET
from hermes_kernel.settings import RANGES
from magics.commands.every import COMMANDS
from tests.examples import blocks, run
from tests.pages import DOCS, MARKED, ROOT, fresh, marked

PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
OURS = (
    "settings.md", "faults.md", "tools.md", "security.md", "migration.md", "commands.md", "models.md", "loops.md", "figures.md",
)  # fmt: skip
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)(?: \"[^\"]*\")?\)")
CODE = "\n".join(
    path.read_text(encoding="utf-8") for kind in ("hermes_kernel", "magics") for path in (ROOT / kind).rglob("*.py")
)
NOT_SETTINGS = {"HERMES_STALE_SECOND", "HERMES_", *OPENAI_NAMES.values()}
THEIRS = {
    "HERMES_STREAM_STALE_TIMEOUT", "HERMES_STREAM_READ_TIMEOUT", "HERMES_CONCURRENT_TOOL_TIMEOUT_S",
    "HERMES_API_TIMEOUT",
}  # fmt: skip
"""Variables of the original."""


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text(page), flags=re.DOTALL | re.MULTILINE)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)}


def spans(page: Path) -> list[str]:
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(page))


@pytest.mark.parametrize("page", marked(), ids=named)
def test_tables_are_those_of_the_code(page):
    assert fresh(text(page)) == text(page), "python -m tests.pages writes them anew"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file_and_to_a_heading_in_it(page):
    lost = []
    for _, target in LINK.findall(prose(page)):
        name, _, anchor = target.partition("#")
        there = page.parent / name if name else page
        if "://" in target or target.startswith("mailto:"):
            continue
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            lost.append(target)
    assert lost == []


@pytest.mark.parametrize("page", [page for page in PAGES if "held by" in text(page).lower()], ids=named)
def test_every_test_that_is_named_as_holding_something_exists(page):
    claimed = [
        (words, target) for words, target in LINK.findall(prose(page)) if re.search(r"tests/[\w/]+\.py$", target)
    ]
    sentences = [(words, target) for words, target in claimed if not re.search(r"[`/.]", words)]
    lost = [words for words, target in sentences if not has_test(page.parent / target, words)]
    assert lost == []


def has_test(path: Path, sentence: str) -> bool:
    name = f"test_{sentence.replace(' ', '_')}"
    return path.exists() and re.search(rf"^(?:async )?def {re.escape(name)}\(", text(path), re.MULTILINE) is not None


@pytest.mark.parametrize("name", [name for name in OURS if (DOCS / name).exists()])
def test_commands_and_variables_on_a_page_exist(name):
    page = DOCS / name
    [verbs] = (action.choices for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    said = MARKED.sub("", text(page))  # what a table has from the code is the code's to hold
    assert set(re.findall(r"(?<![\w%])%hermes ([a-z]+)", said)) <= set(COMMANDS)
    assert set(re.findall(r"`hermes-kernel ([a-z]+)", said)) <= set(verbs)
    variables = set(re.findall(r"\b(?:HERMES_|OPENAI_)[A-Z_]*", prose(page)))
    ours = {each for each in variables - NOT_SETTINGS - THEIRS if not each.startswith(TARGET)}
    assert {each for each in ours if each.removeprefix("HERMES_").lower() not in RANGES} == set()


@pytest.mark.parametrize("name", [name for name in OURS if (DOCS / name).exists() and name != "migration.md"])
def test_names_set_as_code_are_names_in_the_code(name):
    words = {span for span in spans(DOCS / name) if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", span)} - {"num_ctx"}  # Ollama's
    assert {word for word in words if not re.search(rf"\b{word}\b", CODE)} == set()


@pytest.mark.parametrize("name", OURS)
def test_a_line_for_the_shell_can_be_given(name):
    if (DOCS / name).exists():
        lines = [line for block in blocks(name, "bash") for line in block.splitlines()]
        for line in lines:
            if line.startswith("hermes-kernel "):
                assert callable(_parser().parse_args(shlex.split(line, comments=True)[1:]).do), line


def test_every_command_of_the_command_line_is_told():
    [verbs] = (action.choices for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    told = re.findall(r"^hermes-kernel (\w+) ", text(DOCS / "commands.md"), re.MULTILINE)
    beside = {"title"}  # told with `show`
    assert set(told) | beside == set(verbs)


async def test_python_on_the_page_of_commands_gives_what_it_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    [code] = blocks("commands.md", "python")
    assert await run(code, {}) == code.count("# →")
