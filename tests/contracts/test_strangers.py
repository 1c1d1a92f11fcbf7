"""A server that cannot show that it is who it says is told nothing, by whatever speaks to servers here."""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hermes_kernel.core.faults import Fault
from hermes_kernel.world.discover import fetched
from tests.contracts.delivering import report
from tests.contracts.hubs import Hub
from tests.contracts.test_delivery import messenger
from tests.contracts.test_model_wire import ask, model_for

x509 = pytest.importorskip("cryptography.x509")
KEY = "hunter2-hunter2-hunter2"


@dataclass
class Stranger:
    """A TLS server whose certificate it has signed itself: how many came to it, and what they said once it was secret."""

    port: int
    came: list[str] = field(default_factory=list)
    told: list[bytes] = field(default_factory=list)


def certified(folder: Path) -> Path:
    """A certificate for this machine that nobody vouches for, and its key, in one file."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, today = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName(
        [
            x509.DNSName("localhost"),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        ]
    )
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(1))
        .not_valid_after(today + dt.timedelta(9))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "stranger.pem"
    path.write_bytes(secret + made.public_bytes(pem))
    return path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    return certified(tmp_path_factory.mktemp("stranger"))


@pytest.fixture
def stranger(certificate) -> Iterator[Stranger]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))
    made = Stranger(listener.getsockname()[1])
    thread = threading.Thread(target=hear, args=(listener, context, made), daemon=True)
    thread.start()
    yield made
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def hear(listener: socket.socket, context: ssl.SSLContext, made: Stranger) -> None:
    """Take whoever comes, one after another, until there is no listener."""
    while True:
        try:
            visitor, _ = listener.accept()
        except OSError:
            return
        made.came.append("")
        visitor.settimeout(10)
        try:
            with visitor, context.wrap_socket(visitor, server_side=True) as secret:
                made.told += filter(None, [secret.recv(65_536)])
                secret.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        except OSError:  # it hung up on us, as it should
            continue


def was_told_nothing(stranger: Stranger) -> bool:
    return bool(stranger.came) and stranger.told == []


async def test_a_model_is_not_asked_there(stranger):
    model = model_for(f"https://127.0.0.1:{stranger.port}/v1", api_key=KEY)
    events = await ask(model)
    await model.aclose()
    assert events[-1].fault is Fault.SSL
    assert was_told_nothing(stranger)


def test_models_are_not_listed_there(stranger):
    with pytest.raises(OSError, match="certificate verify failed"):
        fetched(f"https://127.0.0.1:{stranger.port}/v1/models", KEY)
    assert was_told_nothing(stranger)


async def test_an_mcp_server_is_not_greeted_there(stranger, tmp_path):
    pytest.importorskip("mcp")
    table = {"url": f"https://127.0.0.1:{stranger.port}/mcp", "headers": {"authorization": f"Bearer {KEY}"}}
    hub = Hub(tmp_path, {"web": table})
    await hub.ready()
    assert hub.phase("web") == "failed"
    assert was_told_nothing(stranger)
    hub.servers.close()


async def test_no_report_is_sent_there(stranger, tmp_path):
    said = await messenger(tmp_path, team=f"jsons://localhost:{stranger.port}/{KEY}").deliver(report(), "team")
    assert "could not be reached" in said
    assert KEY not in said
    assert was_told_nothing(stranger)
