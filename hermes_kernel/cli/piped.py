"""What comes in on standard input, where a command is given ``-`` for a word of its own. What cannot be read as text is
refused: half of it is no prompt and no address.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

from hermes_kernel.cli.trouble import Misuse


def piped(read: Callable[[], str]) -> str:
    """What `read` reads from standard input.

    Raises:
        Misuse: it is in another encoding than this shell's.
    """
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="strict")  # some locales have it lenient
    try:
        return read()
    except UnicodeDecodeError as error:
        told = f"is no {sys.stdin.encoding.upper()}, at its byte {error.start:,}"
        raise Misuse(f"What was piped in {told}: send it as that.") from None
