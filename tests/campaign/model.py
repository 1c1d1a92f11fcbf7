"""A model and its server by the dice of one seed: each request is answered by one of the families below.

What answers request number n depends on the seed, on n (of a stubborn one on n // 5) and on whether somebody asks for a
summary; so a conversation can be played again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from hermes_kernel.core.compression import SYSTEM
from hermes_kernel.testing import (
    FAULTS,
    HINTS,
    OVERFLOWS,
    Asked,
    Request,
    Step,
    Thoughts,
    Tokens,
    bad_arguments,
    call,
    calls,
    cut_call,
    cut_off,
    disconnect,
    disconnect_in_call,
    duplicate_call,
    empty,
    error_in_stream,
    error_with_200,
    failed_generation,
    filtered,
    garbled,
    hang_up,
    late,
    login_page,
    no_choices,
    out_of_quota,
    overflow,
    queued,
    rate_limited,
    raw,
    refused_parameter,
    refused_tool_choice,
    say,
    stall,
    status,
    thinking_only,
    torn,
    unfinished,
    unstreamed,
    used_up,
    wire,
    without_tools,
    written_call,
)
from tests.campaign import asking
from tests.campaign.saying import text

SHAPES = ("openai", "llama", "whole", "ollama", "gemini", "litellm", "dict", "batch", "no_ids", "same_id")
FORMS = ("object", "string", "vllm", "openrouter", "event", "llama_line", "list")
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "content_list", "think_tag")
PARAMETERS = ("stream_options", "max_tokens", "tools", "tool_choice", "parallel_tool_calls", "temperature")
STATUSES = (400, 401, 402, 403, 404, 408, 413, 422, 429, 451, 500, 502, 503, 504, 520, 529)
SILENCE, WAIT = 1.0, 9.0  # seconds: longer than a stream may be silent; a wait that a clock of ours skips
STUBBORN, BLOCK = 0.4, 5  # the share of models that repeat themselves, and for how many requests
SUMMARY = "## Goal and constraints\n- go on\n## Facts to keep word for word\n- the code is heron-4821\n"
HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"


class Model:
    """Answers by the seed; ``played`` counts the steps by their names. ``slow``: also with silences that take their
    time; ``quick``: with nothing that has to be waited for. ``weights`` are those of words, tools, useless replies, broken connections, refusals and named faults."""

    def __init__(
        self, seed: object, *, slow: bool = True, quick: bool = False, weights: tuple[int, ...] = (7, 8, 3, 2, 2, 2)
    ) -> None:
        self.played: Counter[str] = Counter()
        self.peace = False
        self._seed = seed
        self._slow, self._quick = slow, quick
        self._stubborn = random.Random(f"{seed}/mood").random() < STUBBORN
        self._weights = weights

    def __call__(self, request: Request) -> Step:
        dice = self._dice(request.number)
        summary = bool(request.messages) and request.messages[0].get("content") == SYSTEM
        family = self._summary if summary else self._family(dice)
        step = say("In peace.") if self.peace else family(dice)
        self.played[f"{'summary' if summary else family.__name__.strip('_')}: {step.name.partition('(')[0]}"] += 1
        return step

    def _dice(self, number: int) -> random.Random:
        """Those for request `number`. A stubborn model says the same thing several times in a row, now and then."""
        block = random.Random(f"{self._seed}/block {number // BLOCK}")
        if self._stubborn and block.random() < 0.5:
            return block
        return random.Random(f"{self._seed}/{number}")

    def _family(self, dice: random.Random) -> Callable[[random.Random], Step]:
        families = (self._words, self._tools, self._useless, self._broken, self._refusal, self._fault)
        return dice.choices(families, self._weights)[0]

    def _summary(self, dice: random.Random) -> Step:
        good = dice.random() < 0.6
        return say(SUMMARY) if good else self._family(dice)(dice)

    def _words(self, dice: random.Random) -> Step:
        said, form = text(dice), dice.choice(THOUGHTS)
        ends = {"stop": say(said), "null": say(said, finish=None), "odd": say(said, finish="odd")}
        return dice.choice([
            *(replace(step, name=f"say, finish {name}") for name, step in ends.items()),
            replace(say(said, thoughts=Thoughts("hm, hm", form)), name=f"say with {form}"),
            replace(say(said, usage=None), name="say without usage"),
            replace(say(said, usage=Tokens(1200, 30, 100, 10, 0.01)), name="say with usage"),
            torn(said),
            unstreamed("whole"),
            queued(say(said), 0.04, line=dice.choice([b": PROCESSING\n\n", b"\n"])),
            replace(say(said, gap=0.001), name="drip") if len(said) < 100 else say(said),
            late(say(said), 0.02),
            used_up(say(said), 0.01 if self._quick else dice.choice([0.5, 2.0, WAIT])),
            billed(said),
        ])  # fmt: skip

    def _tools(self, dice: random.Random) -> Step:
        wanted = asking.several(dice)
        said, finish = dice.choice(["", "Let me look.", text(dice)]), dice.choice(["tool_calls", "stop", None])
        shape = dice.choice(SHAPES)
        return dice.choice([
            *[replace(calls(wanted, shape=shape, finish=finish, text=said), name=f"calls, {shape}")] * 6,
            replace(calls([*wanted, ("price", "{"), ("price", "[1]")], shape="whole"), name="calls, some no JSON"),
            replace(calls([*wanted] * 4, shape="openai"), name="calls, many at once"),
            replace(calls(wanted, shape="openai", finish="length"), name="calls, whole at the output limit"),
            replace(call("nothing_like_it", {"x": 1}), name="calls, unknown tool"),
            replace(call("", "{}"), name="calls, no name"),
            replace(call("price", '{"sku": "\\ud83d", "currency": "\x00"}'), name="calls, hostile text"),
            replace(calls([_signed(wanted)]), name="calls, signed"),
            duplicate_call("price", {"sku": "A1"}, dice.choice([2, 3])),
            written_call("price", {"sku": "A1"}),
            bad_arguments("price", dice.choice(["{'sku': 'A1',}", "{'sku': unquoted,, }", "null", '"A1"', "{}{}"])),
        ])  # fmt: skip

    def _useless(self, dice: random.Random) -> Step:
        form = dice.choice(["length", "tool_calls", "invalid_diff"])
        return dice.choice([
            *[cut_off(text(dice))] * 3,
            replace(cut_call("price", {"sku": "A1"}, keep=dice.randrange(14), form=form), name=f"cut_call, {form}"),
            empty(),
            thinking_only("hm", finish=dice.choice(["stop", "length"])),
            replace(say("no", finish="content_filter"), name="filtered reply"),
        ])  # fmt: skip

    def _broken(self, dice: random.Random) -> Step:
        at, said = dice.randrange(4), text(dice)
        form, reset = dice.choice(FORMS), dice.random() < 0.5
        named = "reset" if reset else "closed"
        silent = self._slow and dice.random() < 0.3
        return dice.choice([
            replace(hang_up(reset=reset), name=f"hang_up, {named}"),
            replace(disconnect(said, after=at, reset=reset), name=f"disconnect, {named}"),
            disconnect_in_call("price", {"sku": "A1"}, keep=dice.randrange(14), text="Let me"),
            garbled(said, after=at),
            unfinished(said),
            replace(error_in_stream(text=said, form=form), name=f"error_in_stream, {form}"),
            no_choices(),
            replace(raw(wire.text_event("half")[:-9]), name="raw, half an event"),
            replace(raw(b"\xff\xfe\x00garbage\n\n" * 20), name="raw, garbage"),
            replace(raw(HTML.encode(), headers=(("content-type", "text/html"),)), name="raw, HTML"),
            replace(raw(b'data: {"choices": "what"}\n\n', b"data: 7\n\n"), name="raw, other JSON"),
            replace(raw(b": only comments\n\n" * 5), name="raw, comments only"),
            stall(said, after=at, seconds=SILENCE) if silent else hang_up(),
            queued(say(said), SILENCE, every=0.05) if silent else unfinished(said),
            late(say(said), SILENCE) if silent else no_choices(),
        ])  # fmt: skip

    def _refusal(self, dice: random.Random) -> Step:
        seconds, hint = dice.choice([0, 0, 1, 1, 3, WAIT, 5000]), dice.choice(HINTS)
        seconds = 0 if self._quick else seconds
        code, wording, name = dice.choice(STATUSES), dice.choice(list(OVERFLOWS)), dice.choice(PARAMETERS)
        return dice.choice([
            *[replace(status(code), name=f"status {code}")] * 3,
            replace(status(code, body=HTML), name="status with HTML"),
            *[replace(rate_limited(seconds, hint=hint), name=f"429, {hint}")] * 3,
            replace(rate_limited(seconds, hint=hint, code=503), name=f"503, {hint}"),
            replace(overflow(wording), name=f"overflow, {wording}"),
            out_of_quota(),
            filtered(),
            login_page(),
            error_with_200(),
            failed_generation(dice.choice(["<function=price>{}</function>", '{"name": "price"', "\ud800"])),
            replace(refused_parameter(name, code=dice.choice([400, 422])), name=f"refused_parameter, {name}"),
            refused_tool_choice(),
            without_tools(),
        ])  # fmt: skip

    def _fault(self, dice: random.Random) -> Step:
        """Every fault by its name."""
        named, step = dice.choice(list(FAULTS.items()))
        endless = named == "stale_stream" and not self._slow
        return replace(hang_up() if endless else step, name=str(named))


def billed(said: str) -> Step:
    """An answer that tells odd numbers of tokens."""
    step = say(said, usage=Tokens(1, 10**7))
    return replace(step, name="say with odd usage")


def _signed(wanted: list[tuple[str, dict[str, object]]]) -> Asked:
    extra = (("extra_content", {"google": {"thought_signature": "c2ln"}}),)
    return Asked("price", '{"sku": "%N%"}', "call_%N%_signed", extra)
