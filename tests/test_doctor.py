"""What the doctor sees, and what a server that it asks cannot do to it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from hermes_kernel.doctor import Finding, State, examine, report
from hermes_kernel.settings import Settings
from hermes_kernel.world.discover import Listing, listening, listing

Answer = Callable[[BaseHTTPRequestHandler], None]
KEY = "sk-not-to-be-seen"


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A real HTTP server that answers every GET with `answer`; the address of its API."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def send(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"content_length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def models(*names: object) -> Answer:
    return send(json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode())


def of(findings: tuple[Finding, ...], what: str) -> Finding:
    return next(each for each in findings if each.what == what)


def looked(settings: Settings, *nearby: Listing, environ: dict[str, str] | None = None) -> tuple[Finding, ...]:
    return examine(settings, environ or {}, lambda: nearby)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_an_endpoint_is_asked_for_its_models_with_the_key(home: Path):
    keys = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        keys.append((handler.path, handler.headers["authorization"]))
        models("one", "two")(handler)

    with serving(answer) as url:
        findings = looked(Settings(home=home, base_url=url, api_key=KEY, model="two"))
    assert keys == [("/v1/models", f"Bearer {KEY}")]
    assert of(findings, "endpoint") == Finding("endpoint", State.OK, f"{url}: 2 models")
    assert of(findings, "model").state is State.OK
    assert KEY not in report(findings)


def test_a_model_that_is_not_offered_is_a_problem_with_those_that_are(home: Path):
    with serving(models("one", "two")) as url:
        finding = of(looked(Settings(home=home, base_url=url, model="three")), "model")
        unnamed = looked(Settings(home=home, base_url=url))
    assert finding.state is State.PROBLEM
    assert "one, two" in finding.then
    assert of(unnamed, "model").then == "set HERMES_MODEL to one of these"


@pytest.mark.parametrize("name", ["llama3.2", "gemini-2.5-flash", "qwen3:8b", "models/gemini-2.5-flash"])
def test_a_model_is_offered_by_whatever_name_its_server_takes(home: Path, name: str):
    with serving(models("llama3.2:latest", "models/gemini-2.5-flash", "qwen3:8b")) as url:
        findings = looked(Settings(home=home, base_url=url, model=name, aux_model=name))
        others = looked(Settings(home=home, base_url=url, model="qwen3", aux_model="flash"))
    assert [of(findings, what).state for what in ("model", "aux_model")] == [State.OK, State.OK]
    assert [of(others, what).state for what in ("model", "aux_model")] == [State.PROBLEM, State.PROBLEM]


@pytest.mark.parametrize(
    ("answer", "state", "word"),
    [
        (send(b"", 401), State.PROBLEM, "HERMES_API_KEY"),
        (send(b"no", 404), State.NOTE, "a turn will tell"),
        (send(b"<html>log in</html>"), State.NOTE, "a turn will tell"),
        (send(b"[" * 100_000), State.NOTE, "a turn will tell"),
        (send(b'{"data": {"id": 3}}'), State.NOTE, "a turn will tell"),
        (models(), State.NOTE, "a turn will tell"),
        (send(b"\xff\xfe"), State.NOTE, "a turn will tell"),
    ],
)
def test_whatever_an_endpoint_answers_is_a_finding(home: Path, answer: Answer, state: State, word: str):
    with serving(answer) as url:
        finding = of(looked(Settings(home=home, base_url=url, model="m")), "endpoint")
    assert finding.state is state
    assert word in finding.then


def test_one_model_is_one_model(home: Path):
    with serving(models("one")) as url:
        finding = of(looked(Settings(home=home, base_url=url, model="one")), "endpoint")
    assert finding.said.endswith(": 1 model")


def test_a_redirect_does_not_carry_the_key_elsewhere():
    seen = []

    def thief(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers["authorization"])
        models("x")(handler)

    with serving(thief) as there, serving(send(b"", 302, location=f"{there}/models")) as url:
        found = listing(url, KEY)
    assert (found.status, found.models, seen) == (302, (), [])


def test_a_server_that_drips_is_not_waited_for():
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(600):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass

    with serving(drip) as url:
        began = time.monotonic()
        found = listing(url, seconds=0.3)
        assert time.monotonic() - began < 10
    assert found.models == ()


def test_servers_on_this_machine_are_found_and_offered(home: Path):
    with serving(models("qwen3:8b", "\x1b[31mred", 7)) as url, serving(send(b"hello")) as other:
        ports = {int(each.split(":")[2].removesuffix("/v1")): name for each, name in ((url, "Ollama"), (other, "vLLM"))}
        found = listening(ports, seconds=5)
    assert found == (Listing(url, ("qwen3:8b",), status=200, name="Ollama"),)
    finding = of(looked(Settings(home=home, base_url="local:"), *found), "on this machine")
    assert finding.then == f"HERMES_BASE_URL={url} HERMES_MODEL=qwen3:8b"


def test_a_home_that_is_no_folder_is_a_problem(tmp_path: Path):
    (tmp_path / "file").write_text("")
    finding = of(looked(Settings(home=tmp_path / "file/home", base_url="local:")), "home")
    assert finding.state is State.PROBLEM
    assert "HERMES_HOME" in finding.then


@pytest.mark.skipif(os.name != "posix", reason="permissions are a matter of POSIX")
def test_what_others_may_read_is_noted(home: Path):
    home.mkdir(mode=0o755)
    (home / "kernel.toml").write_text("")
    (home / "kernel.toml").chmod(0o640)
    findings = looked(Settings(home=home, base_url="local:"))
    assert of(findings, "kernel.toml").then == f"chmod 600 {home}/kernel.toml"
    assert any(each.then == f"chmod 700 {home}" for each in findings)


def test_looking_changes_nothing(home: Path):
    looked(Settings(home=home, base_url="local:"))
    assert not home.exists()


def test_the_report_marks_problems_and_says_what_to_do():
    lines = report((Finding("a", State.OK, "fine"), Finding("b", State.PROBLEM, "gone", "bring it back"))).splitlines()
    assert lines == ["ok       a: fine", "PROBLEM  b: gone", "         → bring it back"]


def test_the_window_is_told_where_it_can_be_known(home: Path):
    def listed(**more: object) -> Answer:
        return send(json.dumps({"data": [{"id": "mine", **more}]}).encode())

    with serving(listed(context_length=32_768)) as url:
        settings = Settings(home=home, base_url=url, model="mine")
        assert of(looked(settings), "window").said == "32,768 tokens (the server says so)"
        assert of(looked(settings.with_(context_window=9_000)), "window").said == "9,000 tokens (set)"
    with serving(listed()) as url:
        unknown = of(looked(Settings(home=home, base_url=url, model="mine")), "window")
    assert unknown.state is State.NOTE
    assert "HERMES_CONTEXT_WINDOW" in unknown.then


def test_a_model_for_side_work_that_is_not_offered_is_named(home: Path):
    with serving(models("one", "two")) as url:
        settings = Settings(home=home, base_url=url, model="one")
        assert not [each for each in looked(settings) if each.what == "aux_model"]
        assert of(looked(settings.with_(aux_model="two")), "aux_model").state is State.OK
        assert "three is not among" in of(looked(settings.with_(aux_model="three")), "aux_model").said
        assert not [each for each in looked(settings.with_(aux_model="x@http://y/v1")) if each.what == "aux_model"]


def test_a_kernel_for_subagents_that_is_not_there_is_named(home: Path):
    assert of(looked(Settings(home=home)), "subagents").state is State.OK
    missing = of(looked(Settings(home=home, delegate_kernel="nowhere")), "subagents")
    assert (missing.state, "nowhere" in missing.said) == (State.NOTE, True)


def test_each_mcp_server_is_looked_at_and_none_is_started(home: Path):
    started = home / "started"
    home.mkdir()
    written = {
        "good": {"command": sys.executable, "args": ["-c", f"open({str(started)!r}, 'w')"]},
        "gone": {"command": "no-such-program"},
        "keyless": {"command": sys.executable, "env": {"TOKEN": "${NOT_THERE}"}},
        "off": {"command": "no-such-program", "disabled": True},
        "far": {"url": f"https://me:{KEY}@mcp.example.org/mcp", "headers": {"Authorization": KEY}},
        "wrong": {"commando": "x"},
    }
    (home / "mcp.json").write_text(json.dumps({"mcpServers": written}))
    findings = looked(Settings(home=home), environ={"PATH": os.environ["PATH"]})
    found = {each.what.removeprefix("MCP "): each for each in findings if each.what.startswith("MCP ")}
    assert [name for name, each in found.items() if each.state is State.PROBLEM] == ["gone", "keyless", "wrong"]
    assert "no-such-program" in found["gone"].said
    assert "NOT_THERE" in found["keyless"].said
    assert found["off"].said.endswith("(off)")
    assert not started.exists()
    assert KEY not in report(findings)
