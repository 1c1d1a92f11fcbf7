"""What receives reports in tests: servers on loopback that keep what they were sent, and can be told to misbehave."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Sent:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Web:
    """A web server. ``answer`` is a status, or what one thread does with the connection instead of answering."""

    answer: Any = 200
    location: str = ""
    reply: bytes = b"{}"
    sent: list[Sent] = field(default_factory=list)
    port: int = 0
    over: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_any(self) -> None:
        web = self.server.web
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        web.sent.append(Sent(self.command, self.path, dict(self.headers.items()), body))
        if callable(web.answer):
            web.answer(self)
            return
        self.send_response(web.answer)
        if web.location:
            self.send_header("Location", web.location)
        self.send_header("Content-Length", str(len(web.reply)))
        self.end_headers()
        self.wfile.write(web.reply)

    do_GET = do_POST = do_PUT = handle_any  # noqa: N815 - the base class's names

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    web: Web

    def handle_error(self, *_: object) -> None:
        """A client that went away is what some tests are about."""


@contextmanager
def web(**told: Any) -> Iterator[Web]:
    """A server that keeps what it is sent."""
    made = Web(**told)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.web, made.port = made, server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


@dataclass
class Post:
    """A mail server: the mails that came, and what was said. ``signed`` is its answer to who signs in."""

    port: int = 0
    signed: str = "235 in"
    mails: list[EmailMessage] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


class _Mail(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        post: Post = self.server.post  # type: ignore[attr-defined]
        self._say("220 loopback")
        while line := self.rfile.readline().decode("ascii", "replace").strip():
            post.said.append(line)
            verb = line[:4].upper()
            if verb == "EHLO":
                self._say("250-loopback\r\n250 AUTH PLAIN LOGIN")
            elif verb == "AUTH":
                self._say(post.signed)
            elif verb == "DATA":
                self._say("354 go on")
                post.mails.append(message_from_bytes(self._data(), policy=policy.default))  # type: ignore[arg-type]
                self._say("250 taken")
            elif verb == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 fine")

    def _data(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        return b"".join(lines)

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class _PostOffice(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextmanager
def post() -> Iterator[Post]:
    """A mail server that takes everything."""
    made = Post()
    server = _PostOffice(("127.0.0.1", 0), _Mail)
    server.post, made.port = made, server.server_address[1]  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
