"""Who uses the local server: each user holds one connection to it, and it ends when the last one is gone.

A connection ends with its process however that dies, so nothing is left running and nobody is counted twice. Both sides
prove that they know the server's key before the connection counts; the key itself never travels.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

from hermes_kernel.world.local.weights import GivenUp
from hermes_kernel.world.store.disk import PRIVATE_FILE, plain_in

KEY_VARIABLE = "HERMES_LOCAL_MODEL_KEY"
HANDSHAKE_SECONDS = 5.0
PROOF_BYTES = 32
GRANTED = b"+"
LARGEST = 2**16  # bytes of what is said of a server


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers: its process, its address for requests, the port where users hold their connection."""

    pid: int
    url: str
    door: int
    key: str = field(repr=False)

    def save(self, path: Path) -> None:
        """Replace `path` at once, readable by this user alone."""
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "w") as file:
            json.dump(asdict(self), file)
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Running | None:
        """What `path` says, or None if it says nothing that can be used."""
        said = plain_in(path, LARGEST)
        try:
            return cls(int(said["pid"]), str(said["url"]), int(said["door"]), str(said["key"]))
        except (ValueError, KeyError, TypeError):
            return None


class Door:
    """The server's side: counts its users and calls `ended` once, when the last has gone. ``starter`` is the first
    user's pipe, held from birth, so that a server whose starter dies while it loads is not left over."""

    def __init__(self, key: str, starter: BinaryIO, ended: Callable[[], None]) -> None:
        self._key, self._ended = key, ended
        self._users, self._lock = 1, threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._hold, args=(starter,), daemon=True).start()
        threading.Thread(target=self._welcome, daemon=True).start()

    def _welcome(self) -> None:
        while True:
            visitor, _ = self._socket.accept()
            threading.Thread(target=self._meet, args=(visitor,), daemon=True).start()

    def _meet(self, visitor: socket.socket) -> None:
        with visitor:
            if not _shake_hands(visitor, self._key, b"server", b"user") or not self._enter():
                return
            try:
                visitor.sendall(GRANTED)
                visitor.settimeout(None)
                with visitor.makefile("rb") as stream:
                    _drain(stream)
            except OSError:
                pass  # a user that vanished is a user that left
            self._leave()

    def _hold(self, starter: BinaryIO) -> None:
        _drain(starter)
        self._leave()

    def _enter(self) -> bool:
        with self._lock:
            self._users += bool(self._users)
            return self._users > 0

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            self._ended()


def knock(running: Running) -> socket.socket | None:
    """A connection that keeps the server alive until it is closed, or None when the server is not there any more."""
    try:
        visitor = socket.create_connection(("127.0.0.1", running.door), HANDSHAKE_SECONDS)
    except OSError:
        return None
    try:
        if _shake_hands(visitor, running.key, b"user", b"server") and visitor.recv(1) == GRANTED:
            visitor.settimeout(None)
            return visitor
    except OSError:
        pass  # it ended in the middle: the same as not being there
    visitor.close()
    return None


@contextmanager
def one_at_a_time(path: Path, given_up: threading.Event, busy: Callable[[], None]) -> Iterator[None]:
    """Hold the lock `path` against other processes; it falls with its holder. `busy` is called once if it must be
    waited for.

    Raises:
        GivenUp: `given_up` was set while waiting.
        OSError: there can be no such lock.
    """
    path.touch(PRIVATE_FILE)
    with path.open("ab") as file:
        waited = False
        while not _try_lock(file):
            if not waited:
                busy()
            waited = True
            if given_up.wait(0.1):
                raise GivenUp("the local model was stopped while it was starting")
        yield


def _shake_hands(peer: socket.socket, key: str, me: bytes, other: bytes) -> bool:
    """Whether `peer` knows `key`. The roles differ, so that a proof cannot be sent back to whoever made it."""
    nonce = secrets.token_bytes(PROOF_BYTES)
    try:
        peer.settimeout(HANDSHAKE_SECONDS)
        peer.sendall(nonce)
        peer.sendall(_proof(key, me, _exactly(peer, PROOF_BYTES)))
        return hmac.compare_digest(_exactly(peer, PROOF_BYTES), _proof(key, other, nonce))
    except OSError:
        return False


def _proof(key: str, role: bytes, nonce: bytes) -> bytes:
    return hmac.digest(key.encode(), role + nonce, hashlib.sha256)


def _exactly(peer: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        if not (piece := peer.recv(count - len(got))):
            raise ConnectionError
        got += piece
    return got


def _drain(stream: BinaryIO) -> None:
    while stream.read(4096):
        pass


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
