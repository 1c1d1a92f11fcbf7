"""A report on the screen in front of the person: by ``notify-send`` where there is one, else by what apprise finds."""

from __future__ import annotations

import html
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.ranges import Address
from hermes_kernel.scheduling.delivery.sending import send
from hermes_kernel.scheduling.delivery.wording import Message

SHORT = 300  # characters; a screen shows no more
KINDS = ("dbus", "gnome", "macosx", "windows")
NO_SCREEN = (
    "no screen can be reached from here: install notify-send (libnotify-bin, libnotify), and have a job that cron or "
    "systemd starts know DBUS_SESSION_BUS_ADDRESS"
)


def show(message: Message, environ: Mapping[str, str], seconds: float) -> str:
    """Show it: nothing, or in one line what is missing."""
    short = replace(message, body=brief(message.body, SHORT))
    program = shutil.which("notify-send", path=environ.get("PATH", ""))
    if program:
        words = (short.title, html.escape(short.body))  # the text of a notification may have markup
        return _by(program, words, environ, seconds)
    return "" if any(_shown(Address(f"{kind}://"), short) for kind in KINDS) else NO_SCREEN


def _shown(address: Address, message: Message) -> bool:
    try:
        return not send(address, message)
    except HermesError:
        return False


def _by(program: str, words: tuple[str, str], environ: Mapping[str, str], seconds: float) -> str:
    command = [program, "--app-name=Hermes Kernel", "--", *words]
    try:
        done = subprocess.run(command, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=seconds, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return NO_SCREEN
    return "" if done.returncode == 0 else NO_SCREEN
