"""``hermes-kernel map``: a file of rows in, a line of JSON for each out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_kernel.cli.table import rows_in
from hermes_kernel.cli.trouble import Misuse
from hermes_kernel.testing import Server, status
from tests.contracts.mapped import TEMPLATE, Rows

ROOT = Path(__file__).parents[2]


TABLES = {
    "rows.csv": "n\n1\n",
    "twice.csv": "n,b,n\n1,2,3\n",
    "torn.csv": "n,b\n1,2\n2,x, y\n",
    "other.csv": "n;b\n1;2\n",
}


def run(
    home: Path, server: Server, *arguments: str, command: str = "map", stderr: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES", "OPENAI"))}
    ours = {"HERMES_HOME": str(home), "HERMES_BASE_URL": server.url, "HERMES_MODEL": "any", "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "hermes_kernel", command, *arguments]
    return subprocess.run(
        line, env=kept | ours, cwd=home, stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(("name", "text"), [("rows.csv", "n,b\n0,x\n1\n"), ("rows.jsonl", '{"n": 0}\n\n{"n": 1}\n')])
def test_each_row_of_a_file_is_answered_on_a_line(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    broken = {"1": lambda: status(400)}
    script = Rows(broken)
    with Server(script) as server:
        done = run(tmp_path, server, TEMPLATE, name, "--workers", "2")
        assert done.returncode == 1
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(str(row["row"]["n"]), row["outcome"], row["text"]) for row in told] == [
            ("0", "completed", "It is 0."),
            ("1", "failed", ""),
        ]
        assert "2 rows: 1 completed, 1 failed" in done.stderr
        assert "`--again failed` asks, and pays for, such rows anew." in done.stderr
        broken.clear()
        done = run(tmp_path, server, TEMPLATE, name, "--again", "failed")
        assert (done.returncode, script.asked) == (0, {"0": 1, "1": 2})
        assert "`--all` lists the sessions of maps" in run(tmp_path, server, command="sessions").stdout


def test_a_terminal_sees_how_far_it_is_and_stdout_holds_answers_alone(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(4)))
    near, far = os.openpty()
    with Server(Rows()) as server:
        done = run(tmp_path, server, TEMPLATE, "rows.csv", "--workers", "1", stderr=far)
    os.close(far)
    shown = os.read(near, 65_536).decode()
    os.close(near)
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == [f"It is {n}." for n in range(4)]
    for told in ("0 of 4 rows", "4 of 4 rows", "hermes-kernel: 4 rows: 4 completed"):
        assert f"\r\x1b[K{told}" in shown


def test_what_is_wrong_is_a_line_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"n": 1}\n[2]\n')
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    with Server(Rows()) as server:
        for arguments, code, words in (
            ((TEMPLATE, "rows.jsonl"), 2, "Line 2 is no JSON object."),
            ((TEMPLATE, "rows.txt"), 2, "neither .csv nor .jsonl"),
            ((TEMPLATE, "none.csv"), 1, "No such file"),
            (("$m", "rows.csv"), 1, "There is no column $m"),
            ((TEMPLATE, "twice.csv"), 2, "Two columns are called n: rename one of them."),
            ((TEMPLATE, "torn.csv"), 2, "Line 3 has 3 cells and the table 2 columns: put quotes around a cell"),
            ((TEMPLATE, "other.csv"), 2, "There are semicolons between its cells: write it with commas."),
        ):
            done = run(tmp_path, server, *arguments)
            assert (done.returncode, done.stdout) == (code, "")
            assert words in done.stderr
            assert len(done.stderr.splitlines()) == 1
        assert not server.requests


@pytest.mark.parametrize("cell", ["[" * 100_000, "[" * 980 + "]" * 980, "NaN", "-Infinity", "9" * 6_000])
def test_a_line_that_cannot_be_told_again_is_refused_before_anything_is_paid(tmp_path: Path, cell: str) -> None:
    (tmp_path / "rows.jsonl").write_text(f'{{"n": 1}}\n{{"n": {cell}}}\n')
    with pytest.raises(Misuse, match=r"^Line 2 is no JSON object\.$"):
        rows_in(tmp_path / "rows.jsonl")


def test_a_cell_may_be_as_long_as_a_prompt_and_another_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"n\n{'x' * 200_000}\n")
    assert [len(row["n"]) for row in rows_in(path)] == [200_000]
    for encoding, at in (("latin-1", 5), ("utf-16", 0)):
        path.write_text("n\ncaf\u00e9\n", encoding=encoding)
        with pytest.raises(Misuse, match=rf"^rows.csv is no UTF-8, at its byte {at}: save it as that\.$"):
            rows_in(path)
