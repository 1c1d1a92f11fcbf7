"""`LocalModel`: one server for one home, shared by all its notebooks, there when asked for and gone with the last user.

Knows processes and files, not the model's protocol.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from hermes_kernel.world.local.lease import KEY_VARIABLE, Running, knock, one_at_a_time
from hermes_kernel.world.local.weights import (
    MODELS,
    GivenUp,
    LocalModelError,
    Weights,
    cache_folder,
    find_engine,
    whole,
)
from hermes_kernel.world.store.disk import PRIVATE_FILE, make
from hermes_kernel.world.store.places import Places

START_SECONDS = 300.0


class LocalModel:
    """A user of the local server of `home`. `progress` gets short lines on the thread that starts it."""

    def __init__(self, home: Path, *, model: str = "qwen", progress: Callable[[str], None] | None = None) -> None:
        if model not in MODELS:
            raise LocalModelError(f'there is no local model "{model}"; there are: {", ".join(MODELS)}')
        self._weights: Weights = MODELS[model]
        self._model = model
        self._home = home.expanduser().absolute()
        self._folder = self._home / "models"
        self._progress = progress or (lambda _line: None)
        self._turnstile = threading.Lock()
        self._given_up = threading.Event()
        self._running: Running | None = None
        self._lease: socket.socket | IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> tuple[str, str]:
        """The base URL for an OpenAI client (ending in ``/v1``) and its key. Blocks until the server answers; at once
        when it runs already, so asking before every request is how a server that crashed comes back.

        Raises:
            GivenUp: `stop` was called meanwhile.
            LocalModelError: something is missing, damaged or full, or the server would not start.
        """
        with self._turnstile:
            if self._running is None or not self._alive():
                self._given_up.clear()
                self._release()
                self._running = self._enter()
            return f"{self._running.url}/v1", self._running.key

    def stop(self) -> None:
        """Leave: the server ends when nobody else uses it. Safe from any thread, at any time, any number of times."""
        self._given_up.set()
        with self._turnstile:
            self._release()

    def _alive(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return isinstance(self._lease, socket.socket) and _open(self._lease)

    def _release(self) -> None:
        lease, self._lease, self._process, self._running = self._lease, None, None, None
        if lease is not None:
            with contextlib.suppress(OSError):
                lease.close()

    def _enter(self) -> Running:
        try:
            make(self._folder)
            lock = Places(self._home).lock.with_name(f"local-{self._model}.lock")
            with one_at_a_time(lock, self._given_up, lambda: self._progress("local model: another notebook starts it")):
                return self._join() or self._launch()
        except OSError as failure:
            why = failure.strerror or failure
            raise LocalModelError(f"the local model cannot use {self._folder}: {why}") from failure

    def _join(self) -> Running | None:
        """The server that another process of this home has started, if it is there."""
        running = Running.load(self._record)
        self._lease = knock(running) if running else None
        return running if self._lease else None

    def _launch(self) -> Running:
        began = time.monotonic()
        find_engine()
        path = whole(self._weights, (cache_folder() / "models", self._folder), self._joining())
        self._progress("local model: starting")
        self._record.unlink(missing_ok=True)
        self._process = self._spawn(path)
        self._lease = self._process.stdin
        running = self._await(self._process, began + START_SECONDS)
        self._progress(f"local model: ready in {time.monotonic() - began:.1f} s")
        return running

    def _spawn(self, path: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "hermes_kernel.world.local.child", self._model]
        environment = os.environ | {
            KEY_VARIABLE: secrets.token_urlsafe(24),
            "OMP_WAIT_POLICY": "passive",  # spinning threads make it ten times slower beside any other work
        }
        self._log.touch(PRIVATE_FILE)
        with self._log.open("wb") as log:
            process = subprocess.Popen(
                [*command, path, self._record],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # the notebook's SIGINT is not for it
            )
        threading.Thread(target=process.wait, daemon=True).start()  # it may outlive our use of it: leave no zombie
        return process

    def _await(self, process: subprocess.Popen[bytes], deadline: float) -> Running:
        while not (running := Running.load(self._record)):
            if process.poll() is not None:
                raise LocalModelError(f"the local model ended with code {process.returncode}; its log: {self._log}")
            if time.monotonic() > deadline:
                raise self._kill(process, LocalModelError(f"the local model did not start; its log: {self._log}"))
            if self._given_up.wait(0.05):
                raise self._kill(process, GivenUp("the local model was stopped while it was starting"))
        return running

    def _kill(self, process: subprocess.Popen[bytes], why: LocalModelError) -> LocalModelError:
        process.kill()
        self._release()
        return why

    def _joining(self) -> Callable[[int], None]:
        shown = -1

        def tell(percent: int) -> None:
            nonlocal shown
            if self._given_up.is_set():
                raise GivenUp("the local model was stopped while its weights were joined")
            if percent // 10 > shown // 10 and len(self._weights.parts) > 1:
                shown = percent
                self._progress(f"local model: joining weights {percent} %")

        return tell

    @property
    def _record(self) -> Path:
        return self._folder / f"{self._model}.json"

    @property
    def _log(self) -> Path:
        return self._folder / f"{self._model}.log"


def _open(lease: socket.socket) -> bool:
    """Whether the other end still holds the connection; it never sends anything."""
    lease.setblocking(False)
    try:
        return lease.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
