"""An answer without what its server makes up anew each time: `git diff` of a recording that was made again is to show
what a model said otherwise. Nothing that a model says, and no id of a call, is another. Pure; linear."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hermes_kernel.core.recording.bodies import cut_again, lines_of
from hermes_kernel.core.recording.cassette import Exchange

_CHANCE = (
    (re.compile(r'(?<!\\)"created":( ?)\d+'), r'"created":\g<1>0'),  # the second in which it was said
    (re.compile(r'(?<!\\)"obfuscation":( ?)"[^"\\]*"'), r'"obfuscation":\g<1>""'),  # hides how long words are
    # how busy its machine was, as llama-server says
    (re.compile(r'(?<!\\)"(prompt|predicted)_(\w*ms|per_second)":( ?)[\d.eE+-]+'), r'"\1_\2":\g<3>0'),
)
"""Where a model says the same, quotation marks have a backslash before them."""


def repeatable(exchange: Exchange) -> Exchange:
    """`exchange` without names, times and figures that are others each time. A line in which something was replaced
    comes when its end came."""
    body = b"".join(block.data for block in exchange.blocks).decode("utf-8", "surrogateescape")
    old = lines_of(body)
    new = [_settled(line) if line.startswith("data:") else line for line in old]
    return exchange if new == old else replace(exchange, blocks=cut_again(exchange.blocks, old, new))


def _settled(line: str) -> str:
    try:
        event = json.loads(line[5:])
    except (ValueError, RecursionError):
        return line
    if not isinstance(event, dict):
        return line
    for pattern, instead in _CHANCE:
        line = pattern.sub(instead, line)
    return _unnamed(line, event.get("id"))


def _unnamed(line: str, name: object) -> str:
    """`line` without the name of its answer; that of a call is kept."""
    own = re.compile(rf'(?<!\\)"id":( ?){re.escape(json.dumps(name))}')
    return own.sub(r'"id":\g<1>"answer"', line) if isinstance(name, str) and len(own.findall(line)) == 1 else line
