"""Servers that are down, slow, broken or hostile: each gives one line, never raises, and no part of an address is in it."""

from __future__ import annotations

import asyncio
import builtins
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from hermes_kernel.ranges import Address
from hermes_kernel.scheduling.delivery import Messenger, Targets
from hermes_kernel.scheduling.delivery.addressed import opened, overheard
from hermes_kernel.settings import Settings
from tests.contracts.delivering import report
from tests.contracts.receivers import Web, post, web
from tests.ports import own_port
from tests.soon import SOON

SECRETS = ("Us3rSecret0001", "Passw0rdSecret2", "PathS3cret00003", "QueryS3cret0004")
HTTP = "json://{0}:{1}@localhost:{{port}}/{2}?:key={3}&+X-Key={3}".format(*SECRETS)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """What sends is there before it is measured."""
    opened(Address("json://localhost"))


@pytest.fixture
def server() -> Iterator[Web]:
    with web() as made:
        yield made


def messenger(home: Path, address: str, seconds: float = 20.0) -> Messenger:
    targets = Targets(home, Settings(home=home, notify={"team": address}), environ={})
    return Messenger(home, targets, environ={}, seconds=seconds)


def hang(handler: Any) -> None:
    handler.server.web.over.wait(30)


def trickle(handler: Any) -> None:
    """A byte now and then: no read of a socket ever takes too long."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while not handler.server.web.over.wait(0.05):
        handler.wfile.write(b"x")


def slow(handler: Any) -> None:
    handler.server.web.over.wait(0.4)
    handler.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n")


def close_at_once(handler: Any) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def close_in_the_middle(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
    handler.connection.shutdown(socket.SHUT_RDWR)


def no_http(handler: Any) -> None:
    handler.wfile.write(b"\x00\xff garbage " + SECRETS[0].encode() + b"\r\n\r\n")
    handler.connection.shutdown(socket.SHUT_RDWR)


def clean_of_secrets(said: str) -> None:
    assert said
    assert "\n" not in said
    assert len(said) <= 300
    assert not [secret for secret in SECRETS if secret.lower() in said.lower()]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (500, "500 Internal Server Error"),
        (401, "401 Unauthorized"),
        (404, "404 Not Found"),
        (429, "429 Too Many Requests"),
        (599, "answered 599"),
        (close_at_once, "could not be reached or did not answer"),
        (close_in_the_middle, "could not be reached or did not answer"),
        (no_http, "could not be reached or did not answer"),
    ],
)
async def test_what_a_broken_server_does_is_told_in_a_line(tmp_path: Path, server: Web, answer: Any, words: str):
    server.answer = answer
    said = await messenger(tmp_path, HTTP.format(port=server.port)).deliver(report(), "team")
    assert words in said
    clean_of_secrets(said)


async def test_a_wrong_password_of_a_mailbox_is_among_what_may_be_wrong(tmp_path: Path):
    with post() as mail:
        mail.signed = f"535 5.7.8 {SECRETS[1]} is not accepted"
        address = f"mailto://{SECRETS[0]}:{SECRETS[1]}@localhost:{mail.port}?to=a@example.org&mode=insecure"
        said = await messenger(tmp_path, address).deliver(report(), "team")
    assert "did not take the name, the password" in said
    assert mail.mails == []
    clean_of_secrets(said)


async def test_a_server_that_is_down_is_told_in_a_line(tmp_path: Path):
    with own_port() as port:
        said = await messenger(tmp_path, HTTP.format(port=port)).deliver(report(), "team")
    assert "could not be reached" in said
    clean_of_secrets(said)


@pytest.mark.parametrize("never", [hang, trickle])
async def test_a_server_that_never_ends_is_given_up_on(tmp_path: Path, server: Web, never: Callable[[Any], None]):
    server.answer = never
    began = time.monotonic()
    said = await messenger(tmp_path, HTTP.format(port=server.port), seconds=1).deliver(report(), "team")
    assert time.monotonic() - began < 10
    assert said == "its server took longer than 1 s"
    assert len(server.sent) == 1


async def test_a_slow_server_is_waited_for_and_what_others_say_meanwhile_stays_theirs(tmp_path: Path, server: Web):
    server.answer = slow
    with web(answer=500) as broken, web(answer=404) as lost:
        ports = {"slow": server.port, "broken": broken.port, "lost": lost.port}
        told = {name: HTTP.format(port=port) for name, port in ports.items()}
        targets = Targets(tmp_path, Settings(home=tmp_path, notify=told), environ={})
        made = Messenger(tmp_path, targets, environ={})
        said = await asyncio.gather(*(made.deliver(report(), name) for name in told for _ in range(4)))
    assert said[:4] == [""] * 4
    assert said[4:8] == ["its server answered 500 Internal Server Error"] * 4
    assert said[8:] == ["its server answered 404 Not Found"] * 4


def test_what_a_person_logs_with_apprise_themselves_is_heard(caplog: pytest.LogCaptureFixture):
    with overheard() as lines:
        logging.getLogger("apprise").warning("ours")
    logging.getLogger("apprise").warning("theirs")
    assert lines == ["ours"]
    assert [record.getMessage() for record in caplog.records] == ["theirs"]


async def test_a_message_that_is_on_its_way_can_be_given_up(tmp_path: Path, server: Web):
    server.answer = hang
    task = asyncio.ensure_future(messenger(tmp_path, HTTP.format(port=server.port)).deliver(report(), "team"))
    while not server.sent:
        await asyncio.sleep(0.01)
    task.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < SOON
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "hermes-delivery")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_neither_the_message_nor_a_key_follows_to_another_server(tmp_path: Path, server: Web, status: int):
    with web() as other:
        server.answer, server.location = status, f"http://127.0.0.1:{other.port}/elsewhere"
        gotify = f"gotify://localhost:{server.port}/{SECRETS[2]}"
        said = await messenger(tmp_path, gotify).deliver(report(), "team")
        assert f"answered {status} " in said
        assert "set the address anew" in said
        assert other.sent == []
        clean_of_secrets(said)


async def test_no_file_is_read_for_a_server_that_says_to(tmp_path: Path, server: Web):
    server.answer, server.location = 302, f"file://{tmp_path}/secret"
    said = await messenger(tmp_path, HTTP.format(port=server.port)).deliver(report(), "team")
    assert "leads elsewhere" in said
    clean_of_secrets(said)


async def test_a_reply_of_ten_megabytes_is_no_matter(tmp_path: Path, server: Web):
    server.reply = b"x" * 10_000_000
    assert await messenger(tmp_path, HTTP.format(port=server.port)).deliver(report(), "team") == ""
    server.answer = 500
    said = await messenger(tmp_path, HTTP.format(port=server.port)).deliver(report(), "team")
    assert said == "its server answered 500 Internal Server Error"


ADDRESSES = [
    "json://{0}:{1}@localhost:{port}/{2}?:k={3}",
    "form://{0}:{1}@localhost:{port}/{2}?+X={3}",
    "xml://{0}:{1}@localhost:{port}/{2}",
    "ntfy://{0}:{1}@localhost:{port}/{2}?avatar_url={3}",
    "gotify://localhost:{port}/{2}",
    "rocket://{0}/{2}@localhost:{port}/#a",
    "matrix://{0}:{1}@localhost:{port}/#{2}",
    "mailto://{0}:{1}@localhost:{port}?to={2}@example.org&from=me@example.com&mode=insecure&name={3}",
    "nctalk://{0}:{1}@localhost:{port}/{2}",
    "hassio://localhost:{port}/{2}",
    "slack://{0}-/{1}/{2}",
    "https://hooks.slack.com/services/{0}/-",
    "https://localhost:{port}/{2}",
    "tgram://{2}/{3}",
    "discord://{0}",
    "zz-{0}://{1}@{2}?{3}",
    "{0}:{1}@{2}",
    "json://[{0}:{1}@:::{2}",
    "jsons://{0}:{1}@localhost:{port}/{2}?verify=no&x={3}",
]


@pytest.mark.parametrize("address", ADDRESSES, ids=[address.partition(":")[0] for address in ADDRESSES])
async def test_nothing_anywhere_says_a_part_of_an_address(
    tmp_path: Path, address: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    for name in ("", "apprise", "urllib3"):
        caplog.set_level(logging.DEBUG, logger=name or None)
    with own_port() as port:
        written = address.format(*SECRETS, port=port)
        messenger_ = messenger(tmp_path, written)
        clean_of_secrets(await messenger_.deliver(report(), "team"))
    shown = repr(messenger_.targets.shown()) + repr(Settings(notify={"team": written}))
    out, err = capfd.readouterr()
    for secret in SECRETS:
        assert secret not in caplog.text + shown + out + err
        assert quote(secret) not in caplog.text


async def test_a_name_that_is_an_address_is_not_repeated(tmp_path: Path):
    said = await messenger(tmp_path, "json://h").deliver(report(), HTTP.format(port=1))
    clean_of_secrets(said)


async def test_a_wrong_kernel_toml_is_told_and_not_raised(tmp_path: Path):
    (tmp_path / "kernel.toml").write_text("[notify\n")
    said = await Messenger(tmp_path, environ={}).deliver(report(), "team")
    assert "is not valid TOML" in said
    assert "\n" not in said


async def test_without_apprise_it_is_said_what_to_install(tmp_path: Path, missing_apprise: None):
    said = await messenger(tmp_path, "json://h").deliver(report(), "team")
    assert said == 'Sending needs apprise: pip install "hermes-kernel[notify]"'


@pytest.fixture
def missing_apprise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python in which it is not installed."""
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "apprise":
            raise ModuleNotFoundError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
