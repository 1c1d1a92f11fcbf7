"""One streamed reply put together from raw chunks: every cut of the same stream gives the same reply.

Turn state comes from what was collected, never from ``finish_reason`` alone. Knows no connection and makes up no ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermes_kernel.core.calls import Calls, Piece
from hermes_kernel.core.events import CallDelta, Replied, TextDelta, ThoughtDelta
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.json_repair import dumped
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.text import scrub
from hermes_kernel.core.thinking import Reasoning, ThinkTags, content_parts
from hermes_kernel.core.wire_usage import usage_in

Delta = TextDelta | ThoughtDelta | CallDelta

_FINISHES = {
    "stop": Finish.STOP,
    "end_turn": Finish.STOP,
    "eos": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "tool_calls": Finish.TOOL_CALLS,
    "tool_use": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
    "content_filter": Finish.CONTENT_FILTER,
    "refusal": Finish.CONTENT_FILTER,
    "safety": Finish.CONTENT_FILTER,
}


def error_in(chunk: dict[str, Any]) -> bool:
    """Whether `chunk` is an error that came inside a stream, in OpenAI's, vLLM's or LM Studio's form, or a message."""
    if chunk.get("error") or chunk.get("object") == "error" or chunk.get("type") == "error":
        return True
    return "choices" not in chunk and ("message" in chunk or "detail" in chunk)


class Pairs:
    """Joins surrogate pairs that were cut between two pieces; lets no lone half through."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """`text` as far as it is well-formed; a leading half of a pair waits for the other."""
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return scrub(text)

    def close(self) -> str:
        """What is left of a pair that was never completed."""
        half, self._half = self._half, ""
        return scrub(half)


class Stream:
    """The fold. `feed` every chunk, `close` at the end, then ask for the `reply`."""

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self.reason = ""
        self.usage: Usage | None = None
        self.calls = Calls()
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._taken = 0
        self._pairs, self._thought_pairs = Pairs(), Pairs()
        self._tags, self._reasoning = ThinkTags(), Reasoning()

    @property
    def text(self) -> str:
        """The answer so far."""
        if len(self._text) > 1:
            self._text[:] = ["".join(self._text)]
        return self._text[0] if self._text else ""

    @property
    def written(self) -> str:
        """Everything the model wrote: thoughts, answer and arguments. A reply that nobody counted is counted by it."""
        return "".join([*self._thoughts, *self._text, *(draft.written for draft in self.calls.drafts)])

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all has been said yet."""
        return not (self._text or self._thoughts or self.calls.drafts)

    @property
    def taken(self) -> int:
        """Another number whenever the reply has grown: by words, by what is held back or only kept, by its end or its
        count. A chunk that changes nothing has said nothing, whatever stands in it."""
        return self._taken + self.calls.taken + self._reasoning.taken

    def feed(self, chunk: dict[str, Any]) -> list[Delta]:
        """What `chunk` adds, ready to be shown. Any field may be missing, null or of another type."""
        if "usage" in chunk or "x_groq" in chunk or "timings" in chunk:
            usage = usage_in(chunk) or self.usage
            self._taken += usage != self.usage
            self.usage = usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index", 0) not in (0, None):
            return []
        if reason := choice.get("finish_reason"):
            said = str(reason).lower()
            self._taken += said != self.reason
            self.reason = said
            self.finish = _FINISHES.get(self.reason, Finish.OTHER)
        delta = choice.get("delta") or choice.get("message")
        return self._delta(delta) if isinstance(delta, dict) else []

    def close(self) -> list[Delta]:
        """The stream has ended: what was held back is said."""
        answer, thoughts = self._tags.feed(self._pairs.close())
        late_answer, late_thoughts = self._tags.close()
        return self._said(answer + late_answer, self._thought_pairs.close() + thoughts + late_thoughts)

    def reply(self, new_id: Callable[[], str], *, finish: Finish | None = None) -> Replied:
        """The whole, after `close`. ``new_id`` makes ids for calls that came without one (9 alphanumerics suit all
        providers); ``finish`` overrules what the server said."""
        ended = finish or self.finish or Finish.STOP
        calls, cut = self.calls.finished(new_id, limited=ended is Finish.LENGTH)
        nothing_fitted = ended is Finish.LENGTH and not calls and not self.text.strip()
        extra = self._reasoning.extra()
        return Replied(
            text=self.text,
            calls=calls,
            finish=ended,
            cut=cut or nothing_fitted,
            thoughts="".join(self._thoughts),
            extra=dumped(extra) if extra else "",
            usage=self.usage or Usage(calls=1, estimated=True),
        )

    def _delta(self, delta: dict[str, Any]) -> list[Delta]:
        content = delta.get("content")
        if len(delta) == 1 and isinstance(content, str):  # nearly every chunk there is
            self._taken += len(content)
            answer, thoughts = self._tags.feed(self._pairs.feed(content))
            return self._said(answer, thoughts)
        answer, parts_thoughts = content_parts(content) if content else ("", "")
        refusal = str(delta.get("refusal") or "")
        self._taken += len(answer) + len(parts_thoughts) + len(refusal)
        thoughts = self._reasoning.feed(delta) or parts_thoughts
        tagged = ""
        if answer:
            answer, tagged = self._tags.feed(self._pairs.feed(answer))
        if refusal:
            answer += self._pairs.feed(refusal)
        events = self._said(answer, (self._thought_pairs.feed(thoughts) if thoughts else "") + tagged)
        return events + self._called(delta) if "tool_calls" in delta or "function_call" in delta else events

    def _said(self, answer: str, thoughts: str) -> list[Delta]:
        events: list[Delta] = []
        if thoughts:
            self._thoughts.append(thoughts)
            events.append(ThoughtDelta(thoughts))
        if answer:
            self._text.append(answer)
            events.append(TextDelta(answer))
        return events

    def _called(self, delta: dict[str, Any]) -> list[Delta]:
        raw = delta.get("tool_calls")
        pieces = [piece for piece in raw if isinstance(piece, dict)] if isinstance(raw, list) else []
        if isinstance(delta.get("function_call"), dict):
            pieces.append({"function": delta["function_call"]})
        drafts = (self.calls.feed(Piece.of(piece)) for piece in pieces)
        return [CallDelta(scrub(draft.name), draft.characters) for draft in drafts if draft]
