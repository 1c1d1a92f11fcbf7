"""What apprise makes of an address. Nothing here logs it, and no text here has a part of it: refusals say what kind of
address is wrong, and failures are told in words of our own.

What apprise logs of it, and of the requests that are made, is heard in the thread that sends and goes nowhere else.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any

from hermes_kernel.errors import HermesError
from hermes_kernel.ranges import Address

MISSING = 'sending needs apprise: pip install "hermes-kernel[notify]"'
HOW = "`hermes-kernel schedule target add NAME KIND://…`; the kinds: https://github.com/caronc/apprise/wiki"
WEB = ("https", "http")  # as services such as Slack and Discord show the addresses of their hooks
OWN = "A hook of your own is written jsons://HOST/PATH (form:// and xml:// send otherwise; json:// without TLS)."
LOGGERS = ("apprise", "urllib3.connectionpool", "urllib3.util.retry")
PLAIN = re.compile(r"[a-z]{1,16}")  # a kind misspelt; anything else may be a token in the wrong place
STATUS = re.compile(r"\berror=(\d{3})\b")
SAID = (
    (re.compile(r"(?i)connection.*\bemail\b"),  # apprise says no more of whatever a mail server answers
     "its mail server could not be reached, or did not take the name, the password or a recipient"),
    (re.compile(r"(?i)connection|socket|timed? ?out|unreachable|resolve"),
     "its server could not be reached or did not answer"),
    (re.compile(r"(?i)authenticat|login|credential|unauthori[sz]ed"), "its server did not accept the name or key"),
)  # fmt: skip
LEADS = "its server answered {} and leads elsewhere, where the message and its key do not follow: set the address anew"

_heard = threading.local()


class _Ear(logging.Filter):
    """Takes what is logged by a thread that sends, from every other handler."""

    def filter(self, record: logging.LogRecord) -> bool:
        lines: list[str] | None = getattr(_heard, "lines", None)
        if lines is None:
            return True
        if record.levelno >= logging.WARNING:
            lines.append(record.getMessage())
        return False


EAR = _Ear()


@contextmanager
def overheard() -> Iterator[list[str]]:
    """While it lasts, what this thread's sending logs, and nobody else hears of it."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(EAR)
    before = getattr(_heard, "lines", None)
    _heard.lines = []
    try:
        yield _heard.lines
    finally:
        _heard.lines = before


def opened(address: Address) -> Any:
    """The apprise service that `address` names.

    Raises:
        HermesError: apprise is not installed, knows no such kind, or cannot make sense of the rest.
    """
    apprise = _apprise()
    kind = address.kind
    if kind not in (*WEB, *_kinds(apprise)):
        raise HermesError(_unknown(kind, _kinds(apprise)))
    with overheard():
        service = apprise.Apprise.instantiate(str(address), asset=_asset(apprise))
    if service is None and kind in WEB:
        raise HermesError(f"No service is known to apprise by this {kind}:// address. {OWN}")
    if service is None:
        more = f"https://github.com/caronc/apprise/wiki says what stands in one of {kind}://"
        raise HermesError(
            f"This {kind}:// address lacks something, or has something that does not belong there; {more}."
        )
    return service


def kind_of(address: Address) -> str:
    """What the service is called that it names, such as ``slack``. Raises as `opened`."""
    service = opened(address)
    if address.kind not in WEB:
        return address.kind
    named = service.secure_protocol or service.protocol
    return str(named if isinstance(named, str) else min(named))


def why(lines: list[str]) -> str:
    """The last that was logged of a message that did not go, in words of our own."""
    for line in reversed(lines):
        if found := STATUS.search(line):
            return _answered(int(found[1]))
        for sign, said in SAID:
            if sign.search(line):
                return said
    return "its server did not take the message"


def _answered(status: int) -> str:
    known = status in HTTPStatus.__members__.values()
    said = f"{status} {HTTPStatus(status).phrase}" if known else str(status)
    return LEADS.format(said) if 300 <= status < 400 else f"its server answered {said}"


def _apprise() -> Any:
    try:
        with overheard():
            import apprise
    except ImportError:
        raise HermesError(f"{MISSING[0].upper()}{MISSING[1:]}") from None
    return apprise


def _kinds(apprise: Any) -> frozenset[str]:
    return frozenset(apprise.NotificationManager().schemas())


def _unknown(kind: str, kinds: frozenset[str]) -> str:
    if not kind:
        return f"This is no address: one begins with its kind and ://, as in tgram://…. {HOW}."
    close = get_close_matches(kind, sorted(kinds), 3)
    hint = f" Close to it: {', '.join(f'{each}://' for each in close)}." if close else ""
    said = f"no kind {kind}://" if PLAIN.fullmatch(kind) else "no kind of that name"
    return f"apprise knows {said}.{hint} {HOW}."


def _asset(apprise: Any) -> Any:
    """Says who sends, loads no picture from anywhere, keeps nothing on disk, and goes nowhere but where it is told."""
    return apprise.AppriseAsset(
        app_id="Hermes Kernel", app_desc="Hermes Kernel", app_url="", image_url_mask="", image_url_logo="",
        interpret_escapes=False, interpret_emojis=False, secure_logging=True,
        http_redirects=False,
    )  # fmt: skip
