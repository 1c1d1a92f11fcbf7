"""A port for a server of another program, which needs seconds until it listens: all tests share what the system gives."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_port() -> Iterator[int]:
    """A port of loopback on which nobody listens, and on which nobody will who did not name it: it is bound meanwhile.

    Linux lets whoever sets SO_REUSEADDR, as servers do, listen on it all the same; elsewhere it can only be let go.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port = int(held.getsockname()[1])
        if sys.platform != "linux":
            held.close()
        yield port
