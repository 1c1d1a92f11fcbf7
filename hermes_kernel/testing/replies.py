"""What a model says when nothing goes wrong with the connection: text, thoughts, tool calls, in every wire shape."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes_kernel.core.events import Event, Replied, TextDelta, ThoughtDelta
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.core.text import scrub
from hermes_kernel.testing import wire
from hermes_kernel.testing.step import MARK, Beat, Count, Pause, Step, frame, framed
from hermes_kernel.testing.wire import Asked, CallShape, Thoughts

Text = str | Sequence[str]
"""An answer: a string is streamed word by word, a sequence of strings piece by piece as it stands."""

Calls = Sequence[tuple[str, Mapping[str, Any] | str] | Asked]
"""Tool calls: pairs of a name and arguments (a mapping, or text that is sent verbatim), or `Asked` to choose the id."""

_ID = f"call_{MARK.decode()}_"
_FINISH = {"stop": Finish.STOP, "length": Finish.LENGTH, "content_filter": Finish.CONTENT_FILTER} | dict.fromkeys(
    ("tool_calls", "function_call"), Finish.TOOL_CALLS
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the server tells as usage. A 0 is counted: the prompt from the request (a quarter of its bytes), the reply
    from its pieces. ``cost`` in US dollars."""

    prompt: int = 0
    reply: int = 0
    cached: int = 0
    reasoning: int = 0
    cost: float = 0.0

    def beat(self, pieces: int) -> Beat:
        """The usage event of a reply of so many pieces."""
        return self.event(pieces) if self.prompt else Count(self.reply or pieces)

    def event(self, pieces: int) -> bytes:
        """The same with a prompt of known size."""
        reply = self.reply or pieces
        told: dict[str, Any] = {
            "prompt_tokens": self.prompt,
            "completion_tokens": reply,
            "total_tokens": self.prompt + reply,
            "prompt_tokens_details": {"cached_tokens": self.cached},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning},
        }
        return wire.usage_event(told | ({"cost": self.cost} if self.cost else {}))

    def usage(self, pieces: int) -> Usage:
        """The same as a client should count it."""
        reply = self.reply or pieces
        return Usage(1, self.prompt, reply, self.cached, self.reasoning, self.cost, estimated=not self.prompt)


def say(
    text: Text,
    *,
    gap: float = 0.0,
    finish: str | None = "stop",
    usage: Tokens | None = Tokens(),
    thoughts: str | Thoughts = "",
) -> Step:
    """The model answers in words, `gap` seconds between two pieces. `finish` None leaves the reason null;
    `usage` None tells no usage."""
    pieces = cut(text)
    opening: list[Beat] = [wire.delta_event({"role": "assistant", "content": ""}), *_thinking(thoughts)]
    told = f"say({''.join(pieces)[:30]!r})"
    return Step(
        told,
        framed([*opening, *_spaced([wire.text_event(p) for p in pieces], gap), *_ending(finish, usage, len(pieces))]),
        tuple(_tells(pieces, _of(thoughts), gap, finish, usage)),
    )


def call(
    name: str,
    arguments: Mapping[str, Any] | str = "{}",
    *,
    shape: CallShape = "openai",
    text: str = "",
    finish: str | None = "tool_calls",
) -> Step:
    """The model asks for one tool: ``call("price", {"sku": "A1"})``. Arguments given as text are sent verbatim."""
    return calls([(name, arguments)], shape=shape, text=text, finish=finish)


def calls(
    asked: Calls,
    *,
    shape: CallShape = "openai",
    text: str = "",
    finish: str | None = "tool_calls",
    thoughts: str | Thoughts = "",
) -> Step:
    """The model asks for several tools at once, streamed as one family of servers does it:

    ``openai`` in pieces by index · ``llama`` the same, ids without prefix · ``whole`` one event a call ·
    ``ollama`` whole, every index 0 · ``gemini`` whole, no index · ``litellm`` the id on each piece and a summary at the
    end · ``dict`` arguments as an object · ``batch`` all in one event · ``no_ids`` neither id nor index ·
    ``same_id`` one id for all.
    """
    wanted = [_shaped(item, at, shape) for at, item in enumerate(asked)]
    pieces = cut(text)
    beats: list[Beat] = [wire.delta_event({"role": "assistant", "content": None}), *_thinking(thoughts)]
    beats += [*map(wire.text_event, pieces), *wire.call_events(wanted, shape), *_ending(finish, Tokens(), 10)]
    replied = Replied(
        "".join(pieces),
        tuple(ToolCall(a.id, a.name, a.arguments, extra=json.dumps(dict(a.extra)) if a.extra else "") for a in wanted),
        _FINISH.get(finish or "stop", Finish.OTHER),
        thoughts=_of(thoughts).text,
        usage=Tokens().usage(10),
    )
    told = f"calls({', '.join(a.name for a in wanted)})"
    return Step(told, framed(beats), (*map(TextDelta, pieces), replied))


def written_call(name: str, arguments: Mapping[str, Any], form: str = "<tool_call>\n{}\n</tool_call>") -> Step:
    """A model without a call format of its own writes the call into its text; `form` has ``{}`` where the JSON goes."""
    body = json.dumps({"name": name, "arguments": dict(arguments)})
    return replace(say(form.replace("{}", body)), name=f"written_call({name})")


def billed(step: Step, prompt: int, reply: int) -> Step:
    """`step` with these tokens told as its usage, instead of counted ones."""
    tokens = Tokens(prompt, reply)
    told = frame(tokens.event(reply))
    beats = tuple(told if isinstance(beat, Count) else beat for beat in step.beats)
    tells = (replace(e, usage=tokens.usage(reply)) if isinstance(e, Replied) else e for e in step.tells)
    return replace(step, beats=beats, tells=tuple(tells))


def torn(text: str) -> Step:
    """An answer cut between any two UTF-16 units: emoji arrive as two lone surrogates in two events."""
    units = text.encode("utf-16-le", "surrogatepass")
    pieces = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    return replace(say(pieces), name=f"torn({text[:30]!r})")


def cut(text: Text) -> list[str]:
    """The pieces in which a text is streamed."""
    return re.findall(r"\S+\s*|\s+", text) if isinstance(text, str) else list(text)


def shown(pieces: Sequence[str]) -> list[Event | Pause]:
    """The pieces as a person should see them: surrogates joined or replaced, which may make fewer pieces."""
    whole = "".join(pieces)
    if scrub(whole) == whole and all(scrub(piece) == piece for piece in pieces):
        return [TextDelta(piece) for piece in pieces if piece]
    return [TextDelta(scrub(whole))]


def _tells(
    pieces: list[str], thoughts: Thoughts, gap: float, finish: str | None, usage: Tokens | None
) -> list[Event | Pause]:
    seen = shown(pieces)
    spaced = [step for event in seen for step in (event, Pause(gap))] if gap else seen
    replied = Replied(
        scrub("".join(pieces)),
        finish=_FINISH.get(finish or "stop", Finish.OTHER),
        thoughts=thoughts.text,
        usage=(usage or Tokens()).usage(len(pieces)),
    )
    return [*([ThoughtDelta(thoughts.text)] if thoughts.text else []), *spaced, replied]


def _thinking(thoughts: str | Thoughts) -> list[bytes]:
    return wire.thought_events(_of(thoughts)) if _of(thoughts).text else []


def _of(thoughts: str | Thoughts) -> Thoughts:
    return Thoughts(thoughts) if isinstance(thoughts, str) else thoughts


def _spaced(events: list[bytes], gap: float) -> list[Beat]:
    return [beat for event in events for beat in (event, Pause(gap))] if gap else list(events)


def _ending(finish: str | None, usage: Tokens | None, pieces: int) -> list[Beat]:
    told = [usage.beat(pieces)] if usage else []
    return [wire.delta_event({}, finish), *told, wire.DONE]


def _shaped(item: tuple[str, Mapping[str, Any] | str] | Asked, at: int, shape: CallShape) -> Asked:
    if isinstance(item, Asked):
        return item
    name, arguments = item
    text = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
    match shape:
        case "llama":
            return Asked(name, text, f"{MARK.decode():0<32}{at:02d}")
        case "same_id":
            return Asked(name, text, f"{_ID}0")
        case _:
            return Asked(name, text, f"{_ID}{at}")
