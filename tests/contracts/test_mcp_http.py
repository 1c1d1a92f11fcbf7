"""MCP servers at an address that refuse, forget, flood or lie: a raw server that is told what to do."""

from __future__ import annotations

import gzip
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.contracts.hubs import Hub, until
from tests.contracts.receivers import web as elsewhere

pytest.importorskip("mcp")
EMPTY = {"type": "object", "properties": {}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(405, b"")

    do_DELETE = do_GET  # noqa: N815 - the base class calls it so

    def do_POST(self):
        server = self.server
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.seen.append((message.get("method"), dict(self.headers)))
        if server.status:
            self.answer(server.status, b"no", location=server.location)
        elif "id" not in message:
            self.answer(202, b"")
        elif message["method"] == "initialize":
            info = {"name": "web", "version": "1"}
            version = message["params"]["protocolVersion"]
            self.result(
                message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}, session=True
            )
        elif message["method"] == "tools/list":
            self.result(
                message,
                {
                    "tools": [
                        {"name": name, "inputSchema": EMPTY}
                        for name in ("echo", "huge", "packed", "twice_packed", "fits", "forget", "html", "silent")
                    ]
                },
            )
        else:
            self.call(message, message["params"]["name"])

    def call(self, message, name):
        match name:
            case "echo":
                self.result(message, {"content": [{"type": "text", "text": f"key {self.headers['x-key']}"}]})
            case "huge":
                self.answer(200, b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 40_000_000 + b'"}')
            case "packed":
                self.answer(200, gzip.compress(b'"' + b"x" * 60_000_000, 1), encoding="gzip")
            case "twice_packed":
                self.answer(200, gzip.compress(gzip.compress(bytes(1_000_000_000))), encoding="gzip, gzip")
            case "fits":
                text = {"content": [{"type": "text", "text": os.urandom(1_000_000).hex()}]}
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": text}
                self.answer(200, gzip.compress(json.dumps(answer).encode()), encoding="gzip")
            case "forget":
                self.answer(404, b"")
            case "html":
                self.answer(200, b"<html>", kind="text/html")
            case "silent":
                self.server.released.wait(30)
                self.answer(200, b"")

    def result(self, message, result, *, session=False):
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.answer(200, body, session=session)

    def answer(self, status, body, *, kind="application/json", encoding="", session=False, location=""):
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            if encoding:
                self.send_header("content-encoding", encoding)
            if session:
                self.send_header("mcp-session-id", "s1")
            if location:
                self.send_header("location", location)
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True


@pytest.fixture
def web():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.status, server.location, server.seen, server.released = 0, "", [], threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
async def at(tmp_path, web):
    url = f"http://127.0.0.1:{web.server_port}/mcp"
    hub = Hub(tmp_path, {"web": {"url": url, "headers": {"x-key": "hunter2-hunter2"}, "trust": True}})
    yield hub
    hub.servers.close()


async def test_headers_are_sent_and_their_values_seen_by_nobody_else(at, web):
    await at.ready()
    assert (await at.call("mcp_web_echo")).text == "key [redacted: secret]"
    assert all(headers["x-key"] == "hunter2-hunter2" for _, headers in web.seen)


@pytest.mark.parametrize(
    ("status", "says"), [(401, "HTTP 401: it wants to be signed in to"), (500, "HTTP 500: Internal"), (302, "web")]
)
async def test_a_server_that_refuses_is_failed_with_its_reason(at, web, status, says):
    web.status = status
    await at.ready()
    assert at.phase("web") == "failed"
    assert says in at.told[0]


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("huge", "more than 16,000,000 bytes"),
        ("packed", "more than 16,000,000 bytes"),
        ("twice_packed", "more than 16,000,000 bytes"),
        ("html", "Unexpected content type"),
    ],
)
async def test_a_body_that_is_too_long_or_none_ends_in_an_error_and_the_server_goes_on(at, tool, says):
    await at.ready()
    result = await at.call(f"mcp_web_{tool}")
    assert not result.ok
    assert says in result.text
    assert (await at.call("mcp_web_echo")).ok


async def test_a_packed_answer_that_is_not_too_long_is_read(at):
    await at.ready()
    assert len((await at.call("mcp_web_fits")).text) > 10_000


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_neither_a_call_nor_a_header_follows_to_another_server(at, web, status):
    with elsewhere() as other:
        web.status, web.location = status, f"http://127.0.0.1:{other.port}/mcp"
        await at.ready()
        assert at.phase("web") == "failed"
        assert other.sent == []


async def test_a_proxy_has_no_business_with_a_server_on_this_machine(at, monkeypatch):
    with elsewhere() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        await at.ready()
        assert (await at.call("mcp_web_echo")).ok
        assert proxy.sent == []


async def test_a_server_that_has_forgotten_us_is_greeted_again(at, web):
    await at.ready()
    forgotten = await at.call("mcp_web_forget")
    assert not forgotten.ok
    assert "HTTP 404" in forgotten.text
    assert (await at.call("mcp_web_echo")).ok
    assert [method for method, _ in web.seen].count("initialize") == 2


async def test_a_silent_server_is_given_up_at_the_deadline(tmp_path, web):
    url = f"http://127.0.0.1:{web.server_port}/mcp"
    hub = Hub(tmp_path, {"web": {"url": url, "trust": True}}, tool_seconds=0.3)
    await hub.ready()
    assert "ended at its deadline" in (await hub.call("mcp_web_silent")).text
    await until(lambda: "notifications/cancelled" in [method for method, _ in web.seen])
    assert (await hub.call("mcp_web_echo")).ok
    hub.servers.close()
