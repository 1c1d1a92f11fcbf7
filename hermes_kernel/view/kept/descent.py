"""A lineage in words: lines of text with the shape of the tree before them, and nested lists that open and close. Pure;
titles are other people's, and shown as text on one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.safe import NO_MATH, clean, escape
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.view.kept.finds import short
from hermes_kernel.view.kept.lineage import GONE, Node, Tree
from hermes_kernel.view.markup import opens, typed

TITLE, KIND = 60, 20  # characters
FEW = 40  # sessions of which all branches are open at first
LIST = "list-style:none;margin:0;padding:0 0 0 1.1em"
FIRST = "list-style:none;margin:0;padding:0"
LEAF = "padding-left:1.1em;overflow-wrap:anywhere"
BRANCH = 'style="overflow-wrap:anywhere"'
PRESENT, ASKED = "← this conversation", "← asked for"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a tree as text: the ``shape`` before it, what is said of a session, and whether it is one that
    somebody looks for. ``session`` is empty where the words say how many there are."""

    shape: str
    session: str
    words: str
    mark: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        said = f"{short(self.session)}  {self.words} {self.mark}" if self.session else self.words
        return f"{self.shape}{said}".rstrip()


def lines(tree: Tree) -> tuple[Line, ...]:
    """The tree, a session on each line; what is counted has a line of its own below whom it belongs to."""
    return tuple(line for node in tree.nodes for line in _lines(tree, node, "", ""))


def tree_text(tree: Tree, command: str) -> str:
    """The tree as text. ``command`` is what a person writes before ``show``."""
    return "\n".join([*(line.text for line in lines(tree)), summary(tree, command)])


def tree_html(tree: Tree, command: str) -> str:
    """The tree as lists within lists; what has others below it opens and closes, without a script."""
    items = "".join(_item(tree, node) for node in tree.nodes)
    words = typed(escape(summary(tree, command)))
    return f'<div class="hermes-lineage {NO_MATH}"><ul style="{FIRST}">{items}</ul><div>{words}</div></div>'


def summary(tree: Tree, command: str) -> str:
    """How many there are, and how to read one."""
    size, shown = len(tree.known), tree.shown
    part = f", {shown:,} of them by name" if shown < size else ""
    return f"{counted(size, 'session')}{part}. Read one with `{command} show ID`."


def _lines(tree: Tree, node: Node, first: str, rest: str) -> Iterator[Line]:
    yield Line(first, node.kin.session, *_words(tree, node))
    left = len(node.below) + bool(node.counts)
    for below in node.below:
        left -= 1
        yield from _lines(tree, below, f"{rest}{'├─' if left else '└─'} ", f"{rest}{'│ ' if left else '  '} ")
    if node.counts:
        yield Line(f"{rest}└─ ", "", _counts(node))


def _item(tree: Tree, node: Node) -> str:
    words, mark = _words(tree, node)
    said = f"<code>{escape(short(node.kin.session))}</code> {escape(words)}"
    if mark:
        said += f" <b>{escape(mark)}</b>"
    below = "".join(_item(tree, each) for each in node.below)
    below += f'<li style="{LEAF}">{escape(_counts(node))}</li>' if node.counts else ""
    if not below:
        return f'<li style="{LEAF}">{said}</li>'
    near = tree.shown <= FEW or node.kin.session in tree.line
    branches = opens(said, f'<ul style="{LIST}">{below}</ul>', f"{BRANCH} open" if near else BRANCH)
    return f"<li>{branches}</li>"


def _words(tree: Tree, node: Node) -> tuple[str, str]:
    """What is said of a session, and whether it is one that somebody looks for."""
    kin = node.kin
    mark = PRESENT if kin.session == tree.present else ASKED if kin.session == tree.asked else ""
    if kin.kind == GONE:
        return GONE, mark
    title = brief(clean(kin.title), TITLE) or ("compressed" if kin.further else "(no title)")
    when = "" if kin.last == float("-inf") else minute(kin.last)
    return dotted(brief(clean(node.how), KIND), title, when), mark


def _counts(node: Node) -> str:
    return ", ".join(_count(kind, count) for kind, count in node.counts)


def _count(kind: str, count: int) -> str:
    match kind:
        case "more":
            return f"{count:,} more"
        case "map":
            return counted(count, "row") + " of the map"
        case _:
            return counted(count, kind)
