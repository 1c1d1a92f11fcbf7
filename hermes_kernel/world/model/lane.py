"""One route and everything known about it: what it wants, what it was sent, how fast it may be asked.

Lessons are kept for the life of the model, so that a complaint is heard once.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from hermes_kernel.core.events import Noticed
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.trouble import Trouble
from hermes_kernel.settings import FAR_FIRST_BYTE, NEAR_FIRST_BYTE, Settings
from hermes_kernel.world.model.audit import Audit
from hermes_kernel.world.model.encode import Encoder
from hermes_kernel.world.model.quirks import Quirks, Sent, learn, quirks_of
from hermes_kernel.world.model.rate import RateWindow
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.model.starting import LocalServer, loaded
from hermes_kernel.world.model.watch import Patience
from hermes_kernel.world.model.windows import Reach
from hermes_kernel.world.model.wire import Wire

_NO_MODEL = "No model is configured: set HERMES_BASE_URL and HERMES_MODEL (HERMES_API_KEY for a hosted endpoint)."
_NO_KEY = "There is no API key for {}: set HERMES_API_KEY or OPENAI_API_KEY, or another endpoint in HERMES_BASE_URL."
_BAD_KEY = "The API key for {} has characters that no key has (a line break, perhaps): set it again."
_CUT_PROMPT = (
    "The server counted {:,} prompt tokens where about {:,} were sent: it seems to cut long prompts. "
    "Give the model a larger context (Ollama: OLLAMA_CONTEXT_LENGTH)."
)


class Lane:
    """The state of one route, asked by ``wire``. Routes of one account share its ``rate``. ``reading`` is how much a
    person says that the model reads, in tokens, 0 if nobody does."""

    def __init__(self, route: Route, settings: Settings, rate: RateWindow, wire: Wire, reading: int = 0) -> None:
        self.wanted = route
        self.alone = wire.alone
        self.local = LocalServer(settings.home, route) if route.is_local and not wire.alone else None
        self.near = route.is_near
        self.quirks: Quirks = quirks_of(route.base_url, near=self.near, local=route.is_local)
        if settings.vision == "off":
            self.quirks = replace(self.quirks, vision=False)
        self.encoder = Encoder(route.model)
        self.rate = rate
        self.reach = Reach(route, setting=reading, loaded=loaded(route), ask=wire.window)
        self.audit = Audit(near=self.near)
        self.patience = _patience(route, settings)
        self._first, self._lessons = self.quirks, set[str]()
        self._see = settings.vision == "on"
        self._warned = False

    @property
    def route(self) -> Route | None:
        """Where to ask; None while a server of our own does not run."""
        return self.local.route if self.local else self.wanted

    def objection(self) -> str:
        """Why it makes no sense to ask at all, as one line for a person; empty if it does."""
        route = self.wanted
        if self.alone:
            return ""
        if not route.base_url or not (route.model or route.is_local):
            return _NO_MODEL
        if not (route.api_key.isascii() and route.api_key.isprintable()):
            return _BAD_KEY.format(route.endpoint)
        return "" if route.api_key or self.near else _NO_KEY.format(route.endpoint)

    def advice(self, status: int) -> str:
        """What a person might do about an answer with this status, if there is a likely reason."""
        bare = not urlsplit(self.wanted.base_url).path.strip("/")
        return " The address may lack /v1 at its end." if status == 404 and bare and not self.local else ""

    def learn(self, trouble: Trouble, sent: Sent, written: Quirks) -> Noticed | None:
        """Take a complaint in about a request that was `written` so: the line about what is done differently from now
        on, or None if nothing is."""
        lesson = learn(self.quirks, trouble, sent)
        if lesson is None:
            late = self.alone or written != self.quirks
            return self._known(trouble, sent) if late else None
        if self._see and not lesson[0].vision:
            return None
        self.quirks = lesson[0]
        self._lessons.add(lesson[1])
        return Noticed(lesson[1])

    def _known(self, trouble: Trouble, sent: Sent) -> Noticed | None:
        """The lesson of a complaint about a request that was on its way, then or now, when it was learnt. In a replay
        such a request has left out what it had before, but for tools and images, by which its answer was found."""
        fields = sent.fields | {self._first.limit_name, "stream_options", "temperature"}
        lesson = learn(self._first, trouble, replace(sent, fields=fields))
        return Noticed(lesson[1]) if lesson and lesson[1] in self._lessons else None

    def look(self) -> None:
        """The server answers: it can be asked how much it reads."""
        if self.alone:
            self.reach.look_up()
        else:
            self.reach.look()

    def counted(self, usage: Usage, sent: Sent) -> Noticed | None:
        """Take the server's count in. Said once: it was far too low, as Ollama's is when it cuts a prompt."""
        self.reach.counted(usage.input_tokens if not usage.estimated else 0)
        cut = self.audit.take(sent.counts, sent.tools, usage)
        if cut and cut.window:
            self.reach.shown(cut.window, "truncation")
        if cut is None or self._warned:
            return None
        self._warned = True
        return Noticed(_CUT_PROMPT.format(cut.counted, cut.expected))


def _patience(route: Route, settings: Settings) -> Patience:
    first_byte = settings.first_byte_seconds
    if "first_byte_seconds" not in settings.sources and first_byte in (FAR_FIRST_BYTE, NEAR_FIRST_BYTE):
        first_byte = NEAR_FIRST_BYTE if route.is_near else FAR_FIRST_BYTE
    return Patience(first_byte, settings.stale_seconds, settings.queued_seconds)
