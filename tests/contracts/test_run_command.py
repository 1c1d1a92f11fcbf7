"""``hermes-kernel run``: values for a notebook, its progress, its exit codes. Only what needs a kernel starts one."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from hermes_kernel.cli import main
from hermes_kernel.scheduling.notebooks import parameters_in
from hermes_kernel.scheduling.running.parameters import assigned, typed
from hermes_kernel.scheduling.running.template import inject
from hermes_kernel.testing import Server, say
from magics.hermes import rewrite
from tests.contracts.runs import ROOT, read, shown, template

LITERAL = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=8,
)
SAID = {
    "48": 48, "-0.5": -0.5, "True": True, "None": None, "[1, 'two']": [1, "two"], "'48'": "48", "{'a': (1,)}": {"a": (1,)},
    "Bern": "Bern", "true": "true", "2026-10-12": "2026-10-12", "007": "007", "1-2": "1-2", "...": "...", "3j": "3j",
    "": "", "a=b": "a=b", "[1, 2": "[1, 2", "{[]: 1}": "{[]: 1}", "1e999": math.inf, "\\d+": "\\d+",
}  # fmt: skip
HOSTILE = [
    "__import__('os').system('false')", "1); import os; os.abort(", "'''", '"""', "\\", "\\'", "'\n!touch x\n'", "%%bash", "!ls",
    "what?", "$(id)", "`id`", "{x}", "\u2028import os", "\r%%py", "\0", "\udcff", "(" * 5_000, "9" * 5_000, "0x" + "f" * 9_000,
    "-" * 5_000 + "1", "{" * 90 + "}" * 90, "lambda: 1", "[x for x in ()]", "f'{1}'", "%%hermes\nspend money",
]  # fmt: skip


def value_of(lines: str, name: str = "x"):
    """What the cell assigns, once IPython and our magics have read it."""
    names: dict[str, object] = {}
    transformer = TransformerManager()
    transformer.cleanup_transforms.insert(0, rewrite)
    exec(compile(transformer.transform_cell(lines), "cell", "exec"), names)
    assert set(names) == {name, "__builtins__"}
    return names[name]


# --- values


@pytest.mark.parametrize(("said", "meant"), SAID.items())
def test_a_value_is_a_literal_of_python_or_just_the_text(said, meant):
    assert (typed(said), type(typed(said))) == (meant, type(meant))


@given(LITERAL)
@example({1e999: (-1e999,), b"": ()})
def test_every_literal_is_read_and_assigned_as_it_is(value):
    assert value_of(assigned({"x": value})) == value
    if not isinstance(value, str) and "inf" not in repr(value):
        assert typed(repr(value)) == value


@given(st.text(st.characters()) | st.sampled_from(HOSTILE))
@example("{'b', 'a'}")
def test_no_value_that_somebody_gives_is_ever_run(text):
    said = typed(text)
    lines = assigned({"x": said})
    assert len(lines.splitlines()) == 1
    assert value_of(lines) == said


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_plain_literal_is_text_to_the_letter(text):
    assert typed(text) == text


# --- where they go


def tagged(path, *cells, **options):
    return nbformat.read(template(path, *cells, **options), as_version=4)


def sources(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_values_stand_where_papermill_has_them(tmp_path):
    path = tmp_path / "n.ipynb"
    made = tagged(path, "import x", "week = 1", "week", tags={1: "parameters"})
    inject(made, "week = 2", "python3")
    assert sources(made) == ["import x", "week = 1", "week = 2", "week"]
    inject(made, "week = 3", "hermes")
    assert sources(made) == ["import x", "week = 1", "%%py\nweek = 3", "week"]
    made = tagged(path, "import x", "week = 1", "week", tags={1: "injected-parameters"})
    inject(made, "week = 2", "python3")
    assert sources(made) == ["import x", "week = 2", "week"]
    made = tagged(path, "week")
    inject(made, "week = 2", "python3")
    assert sources(made) == ["week = 2", "week"]


def test_a_notebook_stays_sound_of_whatever_age_it_is(tmp_path):
    made = tagged(tmp_path / "n.ipynb", "1")
    made.cells[1]["id"] = "injected-parameters"
    inject(made, "x = 1", "python3")
    nbformat.validate(made)
    for cell in made.cells:
        del cell["id"]
    made.nbformat_minor = 4
    inject(made, "x = 2", "python3")
    nbformat.validate(made)


# --- the command


def test_values_reach_the_cells_and_what_nobody_waits_for_is_noted(tmp_path, capsys):
    path = template(
        tmp_path / "n.ipynb", "week = 1; who = 'all'", "print(json_ := [week, who, odd])", tags={0: "parameters"}
    )
    before = path.read_bytes()
    out = tmp_path / "out.ipynb"
    wishes = ["-p", "week=[1, {'a': None}]", "-p", f"who={HOSTILE[1]}", "-p", "odd=x=y", "-p", "week=48"]
    assert main(["run", str(path), "-o", str(out), *wishes]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"hermes-kernel: {path} has no parameter odd"
    assert told[1].startswith("[1/3] week = 1; who = 'all'  ")
    assert told[1].endswith(" s")
    assert [line.split("]")[0] for line in told[1:4]] == ["[1/3", "[2/3", "[3/3"]
    assert told[4:] == [f"{out}: done"]
    assert json.dumps(repr([48, HOSTILE[1], "x=y"]))[1:-1] in shown(out)
    assert read(out).cells[2].metadata.tags == ["injected-parameters"]
    assert path.read_bytes() == before


def test_a_cell_that_fails_ends_it_with_1_and_all_before_it_is_kept(tmp_path, capsys):
    path = template(tmp_path / "n.ipynb", "'before ' + name", "", "1 / 0", "'after'")
    assert main(["run", str(path), "-p", "name=me"]) == 1
    *told, failed = capsys.readouterr().err.splitlines()
    assert failed == f"hermes-kernel: {path}: a cell failed: ZeroDivisionError: division by zero"
    assert told[0] == f"hermes-kernel: no cell of {path} is tagged `parameters` and assigns something"
    assert [line.split("]")[0] for line in told[1:]] == ["[1/4", "[2/4", "[3/4"]
    assert "before me" in shown(path)
    assert "after" not in shown(path)


def test_a_line_of_ours_is_told_to_its_end_which_says_what_to_do(tmp_path, capsys):
    line = f"{'word ' * 70}Record it anew with `%hermes record on`, or ask a real model with `%hermes replay off`."
    path = template(tmp_path / "n.ipynb", f"from hermes_kernel import HermesError\nraise HermesError({line!r})")
    assert main(["run", str(path)]) == 1
    assert capsys.readouterr().err.endswith("anew with `--record`, or ask a real model without `--replay`.\n")


def test_a_notebook_that_is_run_again_is_the_same_file_but_for_what_it_shows(tmp_path):
    path = template(tmp_path / "n.ipynb", "1 + 1")
    made = read(path)
    made.cells[1].metadata["execution"] = {"iopub.execute_input": "2025-01-01T00:00:00Z"}
    nbformat.write(made, path)
    assert main(["run", str(path)]) == 0
    once = path.read_bytes()
    assert main(["run", str(path)]) == 0
    assert path.read_bytes() == once
    assert b"2025" not in once


def test_a_link_goes_on_leading_to_the_notebook_and_nobody_else_may_read_it(tmp_path):
    path = template(tmp_path / "kept.ipynb", "'ran ' + 'here'")
    path.chmod(0o600)
    (tmp_path / "link.ipynb").symlink_to("kept.ipynb")
    assert main(["run", str(tmp_path / "link.ipynb")]) == 0
    assert "ran here" in shown(path)
    assert (path.stat().st_mode & 0o777, path.is_symlink()) == (0o600, False)
    assert (tmp_path / "link.ipynb").is_symlink()


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe")
    path = template(tmp_path / "n.ipynb", "'ran ' + 'here'")
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        assert main(["run", str(path), "-o", str(pipe)]) == 0
        assert "ran here" in os.read(reader, 60_000).decode()
    finally:
        os.close(reader)
    assert pipe.is_fifo()


MAGICS = {
    "%%time\nweek = 1": "week", "# of magics\nweek: int = 1\n%time name = 'x'\n!ls": "week", "week = !date\nweek=%pwd": "week",
    "\n%%py\n%matplotlib inline\nweek, (day, *rest) = 1, (2, 3)": "day rest week", "week: str": "week",
    "%load_ext x\nfor day in ():\n    %pwd\nweek = 'a=%s' % 3  # %%": "day week", "%%bash\nweek=1": "", "%no\n(": "",
}  # fmt: skip


@pytest.mark.parametrize(("cell", "names"), MAGICS.items())
def test_parameters_are_seen_among_magics(cell, names):
    tagged = nbformat.v4.new_code_cell(cell, metadata={"tags": ["parameters"]})
    assert parameters_in([tagged]) == frozenset(names.split())


HANGS = "import time\nopen(name, 'w').close()\nprint('here')\nwhile True: time.sleep(1)"
SAYS = "import signal, sys\nfrom hermes_kernel.cli import main\nfor n in {}: signal.signal(n, {})\nsys.exit(main(sys.argv[1:]))"


def test_whoever_asks_it_to_end_finds_what_was_shown_up_to_there_and_nohup_is_heeded(tmp_path):
    """Ctrl-C, a terminal that is closed, `timeout`, and what stops a machine; SIGHUP where it is to be ignored."""
    running, names = {}, ("SIGINT", "SIGTERM", "SIGHUP")
    with ExitStack() as stack:
        for name in (*names, "nohup"):
            path = template(tmp_path / f"{name}.ipynb", HANGS)
            asked = ["run", str(path), "-p", f"name={tmp_path / name}"]
            set_up = SAYS.format([int(signal.SIGHUP)], "signal.SIG_IGN" if name == "nohup" else "signal.SIG_DFL")
            command = [sys.executable, "-c", set_up, *asked]
            process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)
            running[name] = process
        for name, process in running.items():
            while not (tmp_path / name).exists():
                assert process.poll() is None
                time.sleep(0.05)
        running["nohup"].send_signal(signal.SIGHUP)
        for name in names:
            running[name].send_signal(getattr(signal, name))
            assert running[name].communicate()[1].splitlines()[-1].endswith(f".ipynb: stopped by {name}")
            assert running[name].returncode == 1
            assert "here" in shown(tmp_path / f"{name}.ipynb")
        assert running["nohup"].poll() is None
        running["nohup"].terminate()
        assert running["nohup"].communicate()[1].splitlines()[-1].endswith("stopped by SIGTERM")


WRONG = {
    (): "needs a NOTEBOOK",
    ("{n}", "-p", "week"): "is no NAME=VALUE",
    ("{n}", "-p", "=1"): "is no NAME=VALUE",
    ("{n}", "-p", "x y=1"): "is no NAME=VALUE",
    ("{n}", "-p", "__builtins__=1"): "is no NAME=VALUE",
    ("{n}", "-p", "import os;x=1"): "is no NAME=VALUE",
    ("{n}", "-p", "class=1"): "is no NAME=VALUE",
    ("{n}", "-o", "{n}/nowhere/out.ipynb"): "there is no folder",
    ("{n}", "-o", "{here}"): "{here} is a folder: say which file to write in it.",
    ("{n}", "--replay"): "there is no recording {here}/n.cassette.jsonl. `hermes-kernel run {n} --record` makes one.",
    ("--replay", "{n}"): "there is no recording {here}/n.cassette.jsonl.",
    ("{n}", "--replay", "none.jsonl", "--record", "other.jsonl"): "there is no recording",
    ("{r}", "-p", "x=1"): "is not for Python",
    ("{here}/none.ipynb", "-p", "x=1"): "there is no notebook",
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.items())
def test_what_is_asked_for_wrongly_ends_with_2_before_anything_runs(tmp_path, capsys, arguments, said):
    places = {"n": template(tmp_path / "n.ipynb", "1 / 0"), "r": template(tmp_path / "r.ipynb", "x <- 1", kernel="ir")}
    names = {"here": str(tmp_path), **{name: str(path) for name, path in places.items()}}
    path = Path(names["r"])
    path.write_text(path.read_text().replace('"language": "python"', '"language": "R"'))
    before = sorted(tmp_path.iterdir())
    try:
        code = main(["run", *(each.format(**names) for each in arguments)])
    except SystemExit as left:
        code = left.code
    assert code == 2
    assert said.format(**names) in " ".join(capsys.readouterr().err.split())
    assert sorted(tmp_path.iterdir()) == before


# --- recordings

TALK = (
    "%%py\nwho = 'anybody'\nprint({*'the order of a set'})",
    "How much is $who's lucky number, times two?",
    "%%py\nprint(_.text.upper(), hermes.session_id)",
)


@pytest.fixture
def talk(tmp_path, monkeypatch):
    """A notebook that asks, for a person with a home of their own and no server; `of` is somebody else's home."""

    def of(who: str) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / who))
        (tmp_path / who).mkdir(exist_ok=True)

    for name in [name for name in os.environ if name.startswith(("HERMES_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    of("first")
    path = template(tmp_path / "talk.ipynb", *TALK, kernel="hermes", tags={0: "parameters"})
    return SimpleNamespace(path=path, tape=tmp_path / "talk.cassette.jsonl", of=of)


def outputs(path):
    return [cell.outputs for cell in read(path).cells if cell.cell_type == "code"]


def test_a_recorded_notebook_is_replayed_where_nobody_can_be_asked(talk, tmp_path, monkeypatch, capsys):
    asks = ["run", str(talk.path), "-p", "who=Mia"]
    with monkeypatch.context() as online, Server([say("It is 14.")]) as server:
        for name, value in {"BASE_URL": server.url, "MODEL": "scripted", "API_KEY": "sk-not-to-be-seen"}.items():
            online.setenv(f"HERMES_{name}", value)
        assert main([*asks, "--record"]) == 0
    assert "sk-not-to-be-seen" not in talk.tape.read_text()
    assert f"{talk.tape}: 1 exchange" in capsys.readouterr().err
    recorded = outputs(talk.path)
    talk.of("second")
    assert main(["run", str(talk.path), "--replay"]) == 0
    assert not (tmp_path / "second" / ".hermes").exists(), "nothing is kept of it"
    replayed = outputs(talk.path)
    assert replayed[:3] == recorded[:3]
    assert "IT IS 14. 0001" in str(replayed[3]), "ids are counted"
    assert replayed[3] != recorded[3]
    capsys.readouterr()
    talk.of("third")
    assert main(["run", "--replay", str(talk.path), "-p", "who=Ben"]) == 1
    assert "[-Mia-]{+Ben+}" in capsys.readouterr().err


def test_a_single_question_is_recorded_and_replayed_too(talk, tmp_path, monkeypatch, capsys):
    tape = tmp_path / "asked.jsonl"
    with monkeypatch.context() as online, Server([say("Four.")]) as server:
        for name, value in {"BASE_URL": server.url, "MODEL": "scripted", "API_KEY": "none"}.items():
            online.setenv(f"HERMES_{name}", value)
        assert main(["ask", "--record", str(tape), "Two and two?"]) == 0
    talk.of("second")
    assert main(["ask", "--replay", str(tape), "Two and two?"]) == 0
    assert capsys.readouterr().out == "Four.\nFour.\n"
    assert main(["ask", "--replay", str(tape), "Two and three?"]) == 1
    told = capsys.readouterr().err
    assert "[-two-]{+three+}" in told
    assert "Record it anew with `--record`, or ask a real model without `--replay`." in told
