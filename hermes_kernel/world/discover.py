"""Model servers that listen on this machine: asked for their list of models, never for more. Loopback only.

Blocking, for a person who asks; a port that does not answer like an OpenAI endpoint is passed over in silence.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from hermes_kernel.core.text import brief

# Where each server listens when nobody has said otherwise.
USUAL: Mapping[int, str] = {
    11434: "Ollama",
    1234: "LM Studio",
    8080: "llama-server",
    8000: "vLLM",
    1337: "Jan",
    4000: "LiteLLM",
    5001: "KoboldCpp",
}
ENOUGH = 4_000_000  # bytes of a list of models; the longest seen, of a hosted aggregator, is 700 kB


@dataclass(frozen=True, slots=True)
class Listing:
    """What an endpoint says it offers; ``answer`` is how it said so. ``problem`` is one line where it did not say;
    ``status`` 0 without an answer."""

    base_url: str
    models: tuple[str, ...] = ()
    problem: str = ""
    status: int = 0
    name: str = ""
    answer: object = field(default=None, repr=False, compare=False)


def listing(base_url: str, key: str = "", seconds: float = 5.0) -> Listing:
    """Ask one endpoint for its models. Never raises for anything it does."""
    try:
        answer = fetched(f"{base_url.rstrip('/')}/models", key, seconds)
        return Listing(base_url, _ids(answer), status=200, answer=answer)
    except HTTPError as error:
        error.close()
        return Listing(base_url, problem=f"it answers HTTP {error.code}", status=error.code)
    except (OSError, HTTPException) as error:
        return Listing(base_url, problem=brief(f"it does not answer ({getattr(error, 'reason', error)})", 160))
    except (ValueError, RecursionError):
        return Listing(base_url, problem="its list of models is not JSON", status=200)


def fetched(url: str, key: str = "", seconds: float = 5.0) -> object:
    """The JSON at `url`, of `ENOUGH` bytes at most, within about twice `seconds`.

    Raises:
        OSError: no answer, or another status than 200 (an `HTTPError`).
        HTTPException: no HTTP.
        ValueError: no JSON; or `RecursionError`, JSON that is no answer to anything.
    """
    headers = {"User-Agent": "hermes-kernel", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = Request(url, headers=headers)  # noqa: S310 - Settings lets only http(s) in
    with _opener(url).open(request, timeout=seconds) as answer:
        return json.loads(_read(answer, seconds))


def listening(ports: Mapping[int, str] = USUAL, seconds: float = 0.5) -> tuple[Listing, ...]:
    """The servers on this machine that list models, in the order of `ports`."""
    with ThreadPoolExecutor(max_workers=max(len(ports), 1)) as pool:
        asked = [pool.submit(listing, f"http://127.0.0.1:{port}/v1", "", seconds) for port in ports]
        found = zip(ports.values(), [each.result() for each in asked], strict=True)
        return tuple(replace(server, name=name) for name, server in found if server.models)


class _Stay(HTTPRedirectHandler):
    """A key goes where it was meant to go and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(url: str) -> OpenerDirector:
    """No proxy stands between this machine and itself."""
    here = url.startswith(("http://127.", "http://localhost", "http://[::1]"))
    return build_opener(_Stay, ProxyHandler({})) if here else build_opener(_Stay)


def _read(answer: HTTPResponse, seconds: float) -> bytes:
    """What arrives within `seconds`, so that a server which drips is not waited for."""
    ends = time.monotonic() + seconds
    read = b""
    while (piece := answer.read1(65_536)) and len(read) < ENOUGH and time.monotonic() < ends:
        read += piece
    return read


def _ids(answer: object) -> tuple[str, ...]:
    rows = answer.get("data") if isinstance(answer, dict) else answer
    found = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return tuple(name for name in found if isinstance(name, str) and name.isprintable())
