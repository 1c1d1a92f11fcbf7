"""Reading, writing, editing, searching, commands: what each answers, and what it never does."""

import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_kernel.world.tools.edits import NoPlace, edited
from hermes_kernel.world.tools.keeping import keep, safe
from hermes_kernel.world.tools.places import write_risk
from hermes_kernel.world.tools.shell_words import pipelines
from hermes_kernel.world.tools.terminal import clean, environment
from tests.contracts.toolbox import Nobody, Someone, observed, run_calls, toolbox


async def one(tools, name, **arguments):
    return observed(await run_calls(tools, (name, arguments)))


# --- read_file --------------------------------------------------------------------------------------------------------


async def test_lines_come_numbered_and_say_where_to_read_on(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    tools = toolbox(tmp_path)
    assert (await one(tools, "read_file", path="a.txt", start=3, lines=2)).text == (
        "     3\tline 3\n     4\tline 4\n[lines 3-4; there is more: read on with start=5]"
    )
    assert (await one(tools, "read_file", path="a.txt", start=-1)).text == "    10\tline 10"
    past = await one(tools, "read_file", path="a.txt", start=99)
    assert (past.ok, past.text) == (False, "a.txt has only 10 lines.")


async def test_a_file_larger_than_a_result_is_read_in_parts_without_reading_it_all(tmp_path):
    with (tmp_path / "big.txt").open("wb") as file:
        file.write(b"x" * 50 + b"\n")
        file.truncate(3_000_000_000)
        file.seek(0)
        for _ in range(1_000):
            file.write(b"abcdefghi\n")
    tools = toolbox(tmp_path, tool_result_chars=1_000)
    result = await one(tools, "read_file", path="big.txt")
    assert len(result.text) <= 1_000
    assert "read on with start=" in result.text
    assert result.kept_at == ""


async def test_a_line_without_end_is_cut_and_says_so(tmp_path):
    (tmp_path / "a.txt").write_text("x" * 1_000_000 + "\nnext")
    text = (await one(toolbox(tmp_path), "read_file", path="a.txt")).text
    assert "998,000 more characters in this line" in text
    assert text.endswith("     2\tnext")


async def test_what_is_no_text_file_is_answered_usefully(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside.txt").write_text("")
    (tmp_path / "data.bin").write_bytes(b"\x00\x01\x02")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "bom.txt").write_bytes("\ufeffhi".encode())
    (tmp_path / "wide.txt").write_bytes("hi\n".encode("utf-16"))
    (tmp_path / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (4).to_bytes(4) + (3).to_bytes(4))
    os.mkfifo(tmp_path / "pipe")
    tools = toolbox(tmp_path)
    assert "inside.txt" in (await one(tools, "read_file", path="folder")).text
    assert "not text: 3 bytes" in (await one(tools, "read_file", path="data.bin")).text
    assert "café" in (await one(tools, "read_file", path="latin.txt")).text
    assert (await one(tools, "read_file", path="bom.txt")).text == "     1\thi"
    assert (await one(tools, "read_file", path="wide.txt")).text == "     1\thi"
    assert "image/png 4x3" in (await one(tools, "read_file", path="shot.png")).text
    assert "device, pipe or socket" in (await one(tools, "read_file", path="pipe")).text
    assert "device" in (await one(tools, "read_file", path="/dev/zero")).text
    assert "Near it: latin.txt" in (await one(tools, "read_file", path="latine.txt")).text
    assert "no folder" in (await one(tools, "read_file", path="no/such/file.txt")).text
    assert "is empty" in (await one(tools, "read_file", path="folder/inside.txt")).text
    assert not (await one(tools, "read_file", path="a\0b")).ok
    assert not (await one(tools, "read_file", path="data.bin/x")).ok


# --- write_file -------------------------------------------------------------------------------------------------------


async def test_a_file_is_written_whole_with_its_old_mode_through_links_and_with_folders_made(tmp_path):
    tools = toolbox(tmp_path, cwd=tmp_path)
    result = await one(tools, "write_file", path="a/b.sh", content="one\ntwo\n")
    assert result.text == "Wrote a/b.sh: 8 bytes, 2 lines; a new file."
    assert (await one(tools, "write_file", path="c", content="x")).text == "Wrote c: 1 byte, 1 line; a new file."
    target = tmp_path / "a" / "b.sh"
    target.chmod(0o751)
    (tmp_path / "link").symlink_to(target)
    await one(tools, "write_file", path="link", content="drei \ud800\r\n")
    assert target.read_bytes() == "drei \ufffd\r\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert (tmp_path / "link").is_symlink()
    assert [entry.name for entry in (tmp_path / "a").iterdir()] == ["b.sh"]


async def test_a_write_that_cannot_be_done_leaves_what_was_there(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    tools = toolbox(tmp_path)
    for path in (".", "a.txt/b", "x" * 300):
        result = await one(tools, "write_file", path=path, content="new")
        assert not result.ok
        assert "Traceback" not in result.text
        assert "\n" not in result.text
    assert (tmp_path / "a.txt").read_text() == "old"


# --- edit_file --------------------------------------------------------------------------------------------------------

SOURCE = 'def f(x):\n    if x:\n        return "yes"\n    return "no"\n'


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ('return "no"', 'return "nope"', SOURCE.replace('"no"', '"nope"')),
        ('if x:  \n        return "yes"   ', "pass", None),
        ('    if x:  \n        return "yes" ', "    pass", 'def f(x):\n    pass\n    return "no"\n'),
        ("return “no”", "return 0", None),
        ("    return “no”", "    return 0", SOURCE.replace('return "no"', "return 0")),
        ('if x:\n    return "yes"', 'if not x:\n    return "yes"', SOURCE.replace("if x", "if not x")),
        ('\tif x:\n\t\treturn "yes"', '\tif x:\n\t\treturn "y"', None),
        ('    if x:\\n        return "yes"', "    pass", 'def f(x):\n    pass\n    return "no"\n'),
    ],
)
def test_an_edit_finds_its_place_in_spite_of_how_models_misquote(old, new, after):
    edit = edited(SOURCE, old, new)
    assert edit.count == 1
    if after is not None:
        assert edit.text == after


@pytest.mark.parametrize(("old", "words"), [("return", "occurs 2 times (lines 3, 4)"), ("retrun 'no'", "nearest lines are"),
                                            ("zzz", "No line of the file"), ("  \n ", "not found")])  # fmt: skip
def test_an_edit_without_one_certain_place_is_refused_with_what_is_near(old, words):
    with pytest.raises(NoPlace) as refused:
        edited(SOURCE, old, "x")
    assert words in str(refused.value)


def test_a_lenient_match_must_be_unique_too():
    with pytest.raises(NoPlace, match="2 places match but for spaces at line ends"):
        edited("a \nb\na\t\nb\n", "a  \nb", "c")


TEXT = st.text(alphabet="ab \n\t\"'“x", max_size=40)


@given(TEXT, TEXT, TEXT)
@settings(max_examples=500, deadline=None)
def test_an_edit_changes_one_passage_or_nothing(text, old, new):
    try:
        edit = edited(text, old, new) if old else None
    except NoPlace:
        assert text.count(old) != 1
        return
    if edit is None:
        return
    if not edit.how and "\\" not in old:
        assert text.count(old) == 1
        before, after = text.split(old)
        assert edit.text == before + new + after
    else:
        assert old not in text


@given(st.lists(st.sampled_from(["a", "b", "  c", ""]), min_size=1, max_size=12), st.data())
@settings(max_examples=300, deadline=None)
def test_only_the_lines_that_match_are_touched(lines, data):
    text = "\n".join(lines) + "\n"
    at = data.draw(st.integers(0, len(lines) - 1))
    try:
        edit = edited(text, lines[at] + "  ", "NEW")
    except NoPlace:
        return
    if edit.how:
        changed = edit.text.splitlines()
        assert len(changed) == len(lines)
        assert sum(old != new for old, new in zip(lines, changed, strict=True)) == 1


async def test_an_edit_keeps_line_ends_mark_and_mode_and_shows_what_changed(tmp_path):
    target = tmp_path / "a.txt"
    target.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    target.chmod(0o600)
    result = await one(toolbox(tmp_path), "edit_file", path="a.txt", old="one\ntwo", new="1\n2\n2b")
    assert target.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n2b\r\nthree\r\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "-one" in result.text
    assert "+2b" in result.text


async def test_all_occurrences_are_replaced_only_when_asked(tmp_path):
    (tmp_path / "a.txt").write_text("x x x")
    tools = toolbox(tmp_path)
    assert not (await one(tools, "edit_file", path="a.txt", old="x", new="y")).ok
    assert "in 3 places" in (await one(tools, "edit_file", path="a.txt", old="x", new="y", all=True)).text
    assert (tmp_path / "a.txt").read_text() == "y y y"


async def test_an_edit_that_means_nothing_is_answered(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "a.txt").write_text("x")
    tools = toolbox(tmp_path)
    for arguments, words in [
        ({"path": "a.txt", "old": "", "new": "y"}, "old is empty"), ({"path": "a.txt", "old": "x", "new": "x"}, "the same"),
        ({"path": "b.txt", "old": "x", "new": "y"}, "no such file"), ({"path": ".", "old": "x", "new": "y"}, "is a folder"),
        ({"path": "a.bin", "old": "x", "new": "y"}, "not UTF-8"), ({"path": "a.txt", "old": "q", "new": "y"}, "was not changed"),
    ]:  # fmt: skip
        assert words in (await one(tools, "edit_file", **arguments)).text


# --- search_files -----------------------------------------------------------------------------------------------------


async def test_names_and_contents_are_searched_and_what_is_no_source_is_skipped(tmp_path):
    for name, content in {"src/a.py": "import x\nneedle = 1\n", "src/needle.txt": "nothing", ".git/needle": "needle",
                          "b.md": "needle", "c.bin": "needle\0"}.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    tools = toolbox(tmp_path)
    assert (await one(tools, "search_files", pattern="needle")).text.splitlines() == [
        "b.md:1: needle", "src/a.py:2: needle = 1", "src/needle.txt"]  # fmt: skip
    assert (await one(tools, "search_files", pattern="needle", glob="*.py")).text == "src/a.py:2: needle = 1"
    assert (await one(tools, "search_files", pattern="needle", path="src/a.py")).text == "a.py:2: needle = 1"
    assert "Nothing in . matches" in (await one(tools, "search_files", pattern="absent")).text
    assert "not a regular expression" in (await one(tools, "search_files", pattern="(")).text
    assert "no such file" in (await one(tools, "search_files", pattern="x", path="nope")).text


async def test_a_search_with_too_many_finds_is_bounded(tmp_path):
    for n in range(20):
        (tmp_path / f"{n}.txt").write_text("x\n" * 100)
    text = (await one(toolbox(tmp_path), "search_files", pattern="^x$")).text
    assert "more than 50 lines of this file" in text
    assert "more than 200 finds" in text


async def test_a_pattern_that_would_take_for_ever_is_ended_and_the_kernel_stays_alive(tmp_path):
    from hermes_kernel.world.tools.search_files import make_search_files

    (tmp_path / "a.txt").write_text("ab\n" + "a" * 60 + "b\n")
    tools = toolbox(tmp_path)
    tools.add(make_search_files(lambda: tmp_path, seconds=0.5))
    result = await one(tools, "search_files", pattern="(a+)+$|ab")
    assert not result.ok
    assert "a.txt:1: ab" in result.text
    assert "ended after 0.5 s" in result.text


# --- terminal ---------------------------------------------------------------------------------------------------------


async def test_a_command_tells_its_output_and_exit_code_and_gets_no_input(tmp_path):
    tools = toolbox(tmp_path)
    assert (await one(tools, "terminal", command="echo out; echo err >&2; exit 3")).text == "out\nerr\n[exit code 3]"
    assert (await one(tools, "terminal", command="true")).text == "[exit code 0]"
    assert (await one(tools, "terminal", command="cat; echo end")).text == "end\n[exit code 0]"
    assert (await one(tools, "terminal", command="kill -TERM $$")).text == "[ended by signal 15]"
    (tmp_path / "sub").mkdir()
    assert (await one(tools, "terminal", command="pwd", cwd="sub")).text.splitlines()[0] == str(tmp_path / "sub")
    assert "no such folder" in (await one(tools, "terminal", command="pwd", cwd="nope")).text
    assert not (await one(tools, "terminal", command="a\0b")).ok


async def test_a_command_past_its_deadline_is_killed_and_what_it_said_is_told(tmp_path):
    result = await one(toolbox(tmp_path), "terminal", command="echo begun; sleep 30", seconds=0.3)
    assert result.text == "begun\n[killed at its deadline of 0.3 s, with all it had started]"
    assert not result.ok


async def test_output_without_end_is_bounded_in_memory(tmp_path):
    result = await one(
        toolbox(tmp_path, tool_result_chars=2_000), "terminal", command="yes | head -c 200000000; echo last"
    )
    assert len(result.text) <= 2_000
    assert "last\n[exit code 0]" in result.text
    assert Path(result.kept_at).stat().st_size < 10_000_000


async def test_a_server_in_the_background_does_not_hold_the_call_and_goes_on(tmp_path):
    began = time.perf_counter()
    result = await one(toolbox(tmp_path), "terminal", command="(while true; do echo tick; sleep 0.05; done) & echo $!")
    assert time.perf_counter() - began < 5
    assert "background is still running" in result.text
    number = int(next(line for line in result.text.splitlines() if line.isdigit()))
    try:
        time.sleep(0.2)
        os.kill(number, 0)
    finally:
        subprocess.run(["kill", "-9", str(number)], check=False)


async def test_no_secret_of_this_process_reaches_a_command(tmp_path):
    passed = environment(
        {"OPENAI_API_KEY": "a", "MY_TOKEN": "b", "DB_PASSWORD": "c", "HERMES_API_KEY": "d", "ADDRESS": "x://hunter2hunter2@y",
         "PATH": "/usr/local/bin", "WHERE": "local", "SSH_AUTH_SOCK": "/s",
         "MPLBACKEND": "module://matplotlib_inline.backend_inline", "HOME": "/h"},
        ("hunter2hunter2", "local"),
    )  # fmt: skip
    assert {name for name in passed if name not in ("PAGER", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "TERM", "DEBIAN_FRONTEND")} == {
        "PATH", "SSH_AUTH_SOCK", "HOME"}  # fmt: skip


def test_colours_and_progress_bars_become_what_a_terminal_would_show():
    assert clean("\x1b[31mred\x1b[0m \x1b]0;title\x07ok") == "red ok"
    assert clean("10%\r50%\r100%\ndone\r\n") == "100%\ndone\n"


async def test_bytes_that_are_no_text_are_replaced(tmp_path):
    assert (
        await one(toolbox(tmp_path), "terminal", command=r"printf '\xff\xfea'")
    ).text == "\ufffd\ufffda\n[exit code 0]"


# --- todo and clarify -------------------------------------------------------------------------------------------------


async def test_the_list_is_replaced_as_a_whole(tmp_path):
    tools = toolbox(tmp_path)
    items = [{"content": "read", "status": "completed"}, {"content": "write", "status": "in_progress"}, "test"]
    assert (await one(tools, "todo", items=items)).text == "[x] read\n[>] write\n[ ] test\n1 of 3 done."
    assert (await one(tools, "todo", items=[])).text == "The list is empty."
    assert "expected one of" in (await one(tools, "todo", items=[{"content": "a", "status": "halfway"}])).text
    assert "at most 256" in (await one(tools, "todo", items=["x"] * 300)).text


async def test_a_question_goes_to_the_person_and_a_headless_run_goes_on_by_itself(tmp_path):
    person = Someone("the blue one")
    assert (
        await one(toolbox(tmp_path, person), "clarify", question="Which?", choices=["red", "blue"])
    ).text == "the blue one"
    assert person.asked == ["Which?"]
    alone = toolbox(tmp_path, Nobody())
    assert (
        'take "red", your first choice'
        in (await one(alone, "clarify", question="Which?", choices=["red", "blue"])).text
    )
    assert "best judgement" in (await one(alone, "clarify", question="Which?")).text
    assert "best judgement" in (await one(toolbox(tmp_path, Someone(None)), "clarify", question="Which?")).text
    assert not (await one(alone, "clarify", question=" ")).ok


@pytest.mark.parametrize("asked", [{"question": "?" * 10_001}, {"question": "?", "choices": ["red", "b" * 1_001]}])
async def test_nobody_is_asked_what_nobody_could_read(tmp_path, asked):
    result = await one(toolbox(tmp_path, Someone("red")), "clarify", **asked)
    assert not result.ok
    assert "Too long to be read" in result.text


# --- hostile names and commands ---------------------------------------------------------------------------------------

PART = st.sampled_from(["..", ".", "a", "link", "~", "", "b c", "-rf", "\u202e", "x" * 50, "%2e%2e", "C:\\"])


@given(st.lists(PART, min_size=1, max_size=8).map("/".join), st.sampled_from(["", "/", "//"]))
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_path_that_ends_outside_the_working_folder_is_always_a_risk(tmp_path, path, start):
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    if not (work / "link").is_symlink():
        (work / "link").symlink_to(tmp_path)
    named = start + path
    ends = os.path.realpath(work / os.path.expanduser(named))  # noqa: PTH111 - Path would drop a leading ./
    inside = ends == str(work) or ends.startswith(str(work) + os.sep)
    assert (write_risk(named, work, tmp_path / "home") is None) == inside


@given(st.text(max_size=80))
@settings(max_examples=500, deadline=None)
def test_a_kept_results_name_is_a_plain_file_name_and_nobody_elses(name):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,80}", safe(name))
    assert safe(name) != safe(name + "/")


@given(st.text(max_size=400), st.integers(200, 300))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_kept_text_is_never_longer_than_allowed_and_whole_when_it_fits(tmp_path, text, limit):
    kept = keep(text, limit, tmp_path / "r" / "s", "id")
    assert len(kept.text) <= max(limit, 0) or len(text) <= limit
    if len(text) <= limit:
        assert kept.text == text


@given(st.text(alphabet="rmf -/\\'\"$(){}|&;`<>\n=~*xIFS#!", max_size=120))
@settings(max_examples=500, deadline=None)
def test_no_command_is_too_odd_to_be_read(command):
    assert isinstance(pipelines(command), list)


@given(
    st.lists(st.sampled_from(["ls", "echo a", "cd x", "true"]), max_size=4),
    st.sampled_from([";", "&&", "||", "\n", "|", "&"]),
)
@settings(max_examples=200, deadline=None)
def test_what_destroys_a_machine_is_seen_wherever_it_stands(others, joiner):
    from hermes_kernel.world.tools.danger import shell_risk

    for at in range(len(others) + 1):
        command = f" {joiner} ".join([*others[:at], "rm -rf /", *others[at:]])
        assert shell_risk(command).forbidden


@pytest.mark.parametrize("length", [19_000, 99_000])
def test_a_long_command_is_judged_in_reasonable_time(length):
    from hermes_kernel.world.tools.danger import shell_risk

    for piece in ("a ", "(", "$(", "'", "| sh ", "rm -", "{a,", ":(){ "):
        began = time.process_time()
        shell_risk(piece * (length // len(piece)))
        assert time.process_time() - began < 10, piece


def test_the_search_program_needs_nothing_but_python(tmp_path):
    from hermes_kernel.world.tools.search_files import PROGRAM

    done = subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM)], input=b"not json", capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"JSONDecodeError" in done.stderr
