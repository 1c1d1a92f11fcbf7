"""``hermes-kernel search``: what was said in all conversations, the best first."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.opened import HERE, Commands, command, opened
from hermes_kernel.cli.trouble import Misuse

if TYPE_CHECKING:
    from hermes_kernel.core.search.found import Found, Hit

EXAMPLES = """\
words that must all be there, "a phrase", prefix*, -without, OR between two words, and the filters
role: tool: notebook: model: session: after: before:, each also with - before it.

  hermes-kernel search '"quarterly report"' notebook:sales after:2026-10
  hermes-kernel search -- report -draft        (after --, a word may begin with -)
"""


def add_search(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    made = command(commands, "search", "find what was said, in all conversations")
    made.epilog, made.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    made.add_argument("query", nargs="+", metavar="QUERY", help="what is to be found")
    made.add_argument("-n", type=int, default=10, metavar="N", help="at most so many conversations (default: 10)")
    made.add_argument("--json", action="store_true", help="one JSON object instead of text")
    made.set_defaults(do=search)


def search(options: argparse.Namespace) -> int:
    """Print what was found.

    Raises:
        Misuse: the number is below 1, or a filter has a value that it cannot have.
        StoreError: the store cannot be read.
    """
    from hermes_kernel.view.kept.finds import finds_text

    if options.n < 1:
        raise Misuse("-n must be at least 1")
    with opened() as store:
        found = store.search(" ".join(options.query), options.n)
    print(json.dumps(_plain(found), ensure_ascii=False, indent=2) if options.json else finds_text(found, HERE))
    return 0


def _plain(found: Found) -> dict[str, Any]:
    threads = [
        {
            "root": thread.root,
            "title": thread.title,
            "notebook": thread.notebook,
            "model": thread.model,
            "hits": [_hit(hit) for hit in thread.hits],
        }
        for thread in found.threads
    ]
    return {"total": found.total, "partly": found.partly, "note": found.note, "threads": threads}


def _hit(hit: Hit) -> dict[str, Any]:
    marks = [text for text, marked in hit.snippet.pieces if marked]
    return {**dataclasses.asdict(hit.passage), "score": hit.score, "snippet": hit.snippet.text, "marked": marks}
