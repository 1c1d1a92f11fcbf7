"""A message goes off in a thread of its own, waited for only so long: a server that never ends holds up no one.

A thread cannot be ended from outside. One that is given up on goes on by itself until its server or its socket's own
limits end it, and ends with the process at the latest.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hermes_kernel.core.safe import sanitise
from hermes_kernel.ranges import Address
from hermes_kernel.scheduling.delivery.addressed import opened, overheard, why
from hermes_kernel.scheduling.delivery.wording import Message

SECONDS = 60.0  # a message may take
FEW = 1_000  # characters; a service that takes fewer, such as an SMS, is sent the beginning and no parts


async def in_time(work: Callable[[], str], seconds: float) -> str:
    """What `work` returns, or after `seconds` that it took longer. Cancelling this leaves nothing that waits."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

    def settle(said: str) -> None:
        if not done.done():
            done.set_result(said)

    def go() -> None:
        said = work()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, said)

    threading.Thread(target=go, name="hermes-delivery", daemon=True).start()
    await asyncio.wait({done}, timeout=seconds)
    return done.result() if done.done() else f"its server took longer than {seconds:,g} s"


def send(address: Address, message: Message) -> str:
    """Send it now, and wait: nothing, or in words of our own why it did not go.

    Raises:
        HermesError: apprise is missing or cannot use the address.
    """
    service = opened(address)
    with overheard() as lines:
        try:
            sent = service.notify(
                title=message.heading, body=_body(service, message), body_format="markdown", notify_type=message.tone,
                overflow=_overflow(service),
            )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - of a hundred services' code by others, with the address in its words
            return why([*lines, type(error).__name__])
    return "" if sent else why(lines)


def _body(service: Any, message: Message) -> str:
    """Of what becomes HTML, links that run something are taken out too."""
    becomes = service.resolve_format("markdown").value
    return sanitise(message.text) if becomes == "html" else message.text


def _overflow(service: Any) -> str | None:
    """What becomes of a text that is too long for the service, unless its address says so."""
    if service.overflow_mode.value != "upstream":
        return None
    return "split" if service.body_maxlen >= FEW else "truncate"
