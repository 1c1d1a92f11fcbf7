"""An MCP server of ours that speaks raw lines: well behaved where nothing else is asked of it, and hostile where it is.

It knows no package, so that it starts at once and nothing keeps it from breaking the protocol. Options come as arguments.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

OPTIONS = argparse.ArgumentParser()
for flag in (
    "greet",
    "mute",
    "endless",
    "stubborn",
    "child",
    "strange",
    "bombs",
    "modern",
    "newest",
    "unlisted",
    "telltale",
):
    OPTIONS.add_argument(f"--{flag}", action="store_true")
OPTIONS.add_argument("--tools", type=int, default=0)
OPTIONS.add_argument("--description", default="Say it again.")
OPTIONS.add_argument("--read-only", action="store_true")
OPTIONS.add_argument("--once", default="", help="a file: where it is there already, end before the greeting")
OPTIONS = OPTIONS.parse_args()

COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}  # what the revision of 2026 says besides
EMPTY = {"type": "object", "properties": {}}
SIMPLE = ("die", "hang", "huge", "flood", "progress", "twice", "secret", "change", "ask", "images", "fail", "nothing",
          "resources", "structured", "close", "wrong", "pid", "slow",
          "link", "refuse")  # fmt: skip
TOOLS = [
    {"name": "echo", "description": OPTIONS.description,
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
     **({"annotations": {"readOnlyHint": True}} if OPTIONS.read_only else {})},
    *({"name": name, "inputSchema": EMPTY} for name in SIMPLE),
    *({"name": f"tool_{n}", "inputSchema": EMPTY} for n in range(OPTIONS.tools)),
]  # fmt: skip
if OPTIONS.strange:
    NAMES = (
        "new\nline",
        "<script>alert(1)</script>",
        "../../etc/passwd",
        "python",
        "a.b",
        "a/b",
        "x" * 300,
        "",
        "echo",
        "é",
    )
    TOOLS += [{"name": name, "inputSchema": EMPTY} for name in NAMES]
if OPTIONS.telltale:
    KEY = os.environ["SECRET_KEY"]
    LONG = "." * 990 + KEY
    TOOLS += [
        {"name": "login", "description": f"With {KEY}. {LONG}{LONG}", "inputSchema": {"type": "object", "properties": {
            "who": {"$ref": "#/$defs/Who"},
            "key": {"type": "string", "description": LONG, "default": KEY, "enum": [KEY], "pattern": f"^{KEY}$"},
        }, "$defs": {"Who": {"default": {f"to {KEY}": [KEY]}}}}},
        {"name": "by_name", "inputSchema": {"type": "object", "properties": {KEY: {}}}},
        {"name": f"named {KEY}", "inputSchema": EMPTY},
        {"name": f"broken {KEY}", "inputSchema": 7},
        {"name": "." * 65 + KEY, "inputSchema": 7},
    ]  # fmt: skip
if OPTIONS.bombs:
    wide = {f"n{n}": {"$ref": "#"} for n in range(30)}
    ladder = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(20)}
    deep: dict = {"type": "string"}
    for _ in range(200):
        deep = {"type": "array", "items": deep}
    TOOLS += [
        {"name": "itself", "inputSchema": {"type": "object", "properties": wide}},
        {"name": "ladder", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": ladder}},
        {"name": "deep", "inputSchema": {"type": "object", "properties": {"x": deep}}},
        {"name": "words", "inputSchema": {"type": "object", "properties": {f"p{n}": {"description": "w" * 900} for n in range(99)}}},
        {"name": "array", "inputSchema": {"type": "array"}},
        {"name": "nonsense", "inputSchema": {"type": "object", "properties": 7, "required": "x", "anyOf": 3}},
    ]  # fmt: skip


def send(**message) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(number, *texts: str, **more) -> None:
    newer = {"resultType": "complete"} if OPTIONS.newest else {}
    send(id=number, result={"content": [{"type": "text", "text": text} for text in texts], **newer, **more})


def call(number, name: str, arguments: dict, meta: dict) -> None:
    match name:
        case "echo":
            answer(number, arguments["text"])
        case "die":
            print("something broke in here", file=sys.stderr, flush=True)
            os._exit(7)
        case "close":
            os.close(1)
            time.sleep(60)
        case "pid":
            answer(number, str(os.getpid()))
        case "slow":
            time.sleep(0.3)
            answer(number, "slow")
        case "hang":
            HANGING.append(number)
        case "huge":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{number},"result":{{"content":[{{"type":"text","text":"')
            for _ in range(100):
                sys.stdout.write("x" * 1_000_000)
            sys.stdout.write('"}]}}\n')
            sys.stdout.flush()
        case "flood":
            for n in range(2_000):
                sys.stdout.write(f"garbage {n} {{{{\n[1,2\n\n")
            answer(number, "after the flood")
        case "progress":
            for n in range(1_000):
                params = {
                    "progressToken": meta["progressToken"],
                    "progress": n,
                    "total": 1000,
                    "message": "step\x1b[31m",
                }
                send(method="notifications/progress", params=params)
            answer(number, "a thousand steps")
        case "twice":
            answer(number, "first")
            answer(number, "second")
            answer(99_999, "to nobody")
        case "login":
            about = {"progressToken": meta["progressToken"], "progress": 1}
            send(method="notifications/progress", params=about | {"message": f"with {os.environ['SECRET_KEY']}"})
            answer(number, "in")
        case "secret":
            answer(number, f"the key is {os.environ.get('SECRET_KEY')}, plain {os.environ.get('HERMES_API_KEY')}")
        case "change":
            TOOLS.append({"name": "later", "inputSchema": EMPTY})
            send(method="notifications/tools/list_changed", **({"params": TOPIC} if OPTIONS.newest else {}))
            answer(number, "changed")
        case "ask":
            ASKED.append(number)
            sampling = {"messages": [], "maxTokens": 5}
            form = {"message": "your password?", "requestedSchema": EMPTY}
            send(id="s", method="sampling/createMessage", params=sampling)
            send(id="e", method="elicitation/create", params=form)
            send(id="r", method="roots/list")
            send(method="notifications/message", params={"level": "info", "data": "log line"})
        case "images":
            dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
            send(id=number, result={"content": [
                {"type": "image", "data": dot, "mimeType": "image/png"},
                {"type": "image", "data": "not base64!", "mimeType": "image/png"},
                {"type": "image", "data": "PHN2Zz4=", "mimeType": "image/svg+xml"},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            ]})  # fmt: skip
        case "resources":
            send(id=number, result={"content": [
                {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside a"}},
                {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAAA", "mimeType": "x/y"}},
                {"type": "resource_link", "uri": "file:///c.txt", "name": "c"},
            ]})  # fmt: skip
        case "link":
            key = os.environ["SECRET_KEY"]
            half = "." * (490 - len("[c: file:///c] "))  # cut at 500 characters, and at 200
            send(id=number, result={"content": [
                {"type": "resource_link", "uri": "file:///c", "name": "c", "description": half + key},
                {"type": "resource", "resource": {"uri": "file:///" + "b" * 180 + key, "text": "inside b"}},
            ]})  # fmt: skip
        case "refuse":
            send(id=number, error={"code": -32000, "message": "." * 990 + os.environ["SECRET_KEY"]})
        case "structured":
            send(id=number, result={"content": [], "structuredContent": {"sum": 3}})
        case "nothing":
            send(id=number, result={"content": []})
        case "fail":
            answer(number, "no such row\ud800", isError=True)
        case "wrong":
            send(id=number, result={"content": "not a list"})
        case _:
            answer(number, f"{name} was called")


def listed(number, cursor) -> None:
    if OPTIONS.endless:
        at = int(cursor or 0)
        send(id=number, result={"tools": [{"name": f"page_{at}", "inputSchema": EMPTY}], "nextCursor": str(at + 1)})
    else:
        send(id=number, result={"tools": TOOLS, **(COMPLETE if OPTIONS.newest else {})})


HANGING: list = []
ASKED: list = []
ANSWERS: dict = {}
TOPIC: dict = {}

if OPTIONS.stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if OPTIONS.child:
    subprocess.Popen(["sleep", "1000"])
if OPTIONS.greet:
    print("Welcome to my server!\n\x00\xff{}\n[]\nnull\n7\n" + "x" * 100_000, flush=True)
if OPTIONS.once:
    if Path(OPTIONS.once).exists():
        sys.exit(3)
    Path(OPTIONS.once).touch()

for line in sys.stdin:
    message = json.loads(line)
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if OPTIONS.mute:
        continue
    if method == "initialize" and (OPTIONS.modern or OPTIONS.newest):
        send(id=number, error={"code": -32601, "message": "Method not found"})
    elif method == "initialize":
        info = {"name": "own", "version": "1"}
        tools = {} if OPTIONS.unlisted else {"tools": {"listChanged": True}}
        send(
            id=number, result={"protocolVersion": params["protocolVersion"], "capabilities": tools, "serverInfo": info}
        )
    elif method == "server/discover" and OPTIONS.newest:
        send(id=number, result={"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **COMPLETE})
    elif method == "subscriptions/listen" and OPTIONS.newest:
        TOPIC["_meta"] = {"io.modelcontextprotocol/subscriptionId": number}
        send(
            method="notifications/subscriptions/acknowledged", params=TOPIC | {"notifications": params["notifications"]}
        )
    elif method == "tools/list":
        listed(number, params.get("cursor"))
    elif method == "tools/call":
        if "CALLED" in os.environ:
            Path(os.environ["CALLED"]).touch()
        call(number, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    elif method == "notifications/cancelled":
        if params.get("requestId") in HANGING:
            Path(os.environ["CANCELLED"]).touch()
            answer(params["requestId"], "too late")
    elif method is None and number in ("s", "e", "r"):
        ANSWERS[number] = message.get("result") or message["error"]["message"]
        if len(ANSWERS) == 3:
            answer(ASKED.pop(), json.dumps(ANSWERS))
    elif number is not None:
        send(id=number, error={"code": -32601, "message": f"Method not found: {method}"})

while OPTIONS.stubborn:
    time.sleep(1)
