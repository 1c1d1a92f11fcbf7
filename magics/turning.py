"""A running turn, of widgets: what it is at, a Stop button, what it has used, its tools, its subagents, its thoughts.

Keeps true: each piece is a widget of its own and is sent again only when it has changed; the button and the focus stay
where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes_kernel.view import Picture, escape
from hermes_kernel.view.look import LINE, QUIET
from hermes_kernel.view.panel import Panel, Piece, meter_html, spoken_html, status_html, thoughts_html
from magics.answer import Answer, Leaf
from magics.quota import Quota
from magics.stage import Stage
from magics.stopping import beside, line, narrow, stop_button

SPOKEN = 1.0  # seconds between two things that are read out
SHEET = f"""<style>
.hermes-turn{{padding:2px 0}}
.hermes-turn>.widget-vbox{{gap:2px}}
.hermes-turn .hermes-meters{{gap:2px 24px;min-height:1.5em}}
.hermes-turn .hermes-meters>.widget-html{{flex:1 1 15em;margin:0}}
.hermes-turn .hermes-answer{{border-left:2px solid {LINE};padding-left:12px}}
.hermes-turn .lm-Collapse-header,.hermes-turn .jupyter-widget-Collapse-header{{background:none;border:0;
  padding:0;color:{QUIET};font-size:inherit}}
.hermes-turn .lm-Collapse-contents,.hermes-turn .jupyter-widget-Collapse-contents{{background:none;border:0;
  padding:0 0 0 12px}}
</style>"""


class Turning:
    """The widgets of one turn, on a stage. ``press`` stops the turn; ``wanted`` asks for a painting soon."""

    def __init__(
        self, stage: Stage, press: Callable[[], None], wanted: Callable[[], None], time: Callable[[], float]
    ) -> None:
        self.stage = stage
        self._time = time
        self._announced = -SPOKEN
        self._quota = quota = Quota(time)
        self._line = line(stage.widgets)
        self._spoken, self._budget, self._silence = (stage.widgets.HTML() for _ in range(3))
        self._pieces = Pieces(stage.widgets, quota)
        self._thoughts = Thoughts(stage.widgets, quota, wanted)
        self._answer = Mirror(stage)
        top = beside(stage.widgets, self._line, stop_button(stage.widgets, press))
        meters = stage.widgets.HBox([self._budget, self._silence])
        meters.add_class("hermes-meters")
        self._children = (top, self._spoken, meters, self._pieces.box, self._thoughts.box, self._answer.box)

    def show(self, panel: Panel, bundle: Mapping[str, str]) -> None:
        """Be there. `bundle` is the document in the stead of widgets."""
        self._say(panel)
        self.stage.show(self._children, bundle)

    def paint(self, panel: Panel, picture: Picture) -> None:
        """What has changed, the most important first."""
        self._say(panel)
        self._pieces.paint(panel.pieces)
        self._thoughts.paint(panel.thoughts)
        self._answer.paint(picture)

    def settle(self, bundle: Mapping[str, str], picture: Picture) -> None:
        """It is over."""
        self._answer.finish(picture)
        self.stage.settle(bundle, stays=(self._answer.box,))

    def _say(self, panel: Panel) -> None:
        self._quota.say(self._line, narrow(status_html(panel)))
        self._announce(spoken_html(panel))
        self._quota.say(self._silence, meter_html(panel.silence))
        cost = f'<div class="hermes-quiet">{escape(panel.cost)}</div>'
        self._quota.say(self._budget, meter_html(panel.budget) + cost)

    def _announce(self, spoken: str) -> None:
        if self._spoken.value != spoken and self._time() - self._announced >= SPOKEN:
            self._announced = self._time()
            self._quota.say(self._spoken, spoken)


class Pieces:
    """A widget for each tool call, subagent and note, by its key."""

    def __init__(self, widgets: Any, quota: Quota) -> None:
        self.box = widgets.VBox()
        self._widgets = widgets
        self._quota = quota
        self._shown: dict[str, Any] = {}
        self._alike: dict[str, Any] = {}

    def paint(self, pieces: Sequence[Piece]) -> None:
        if [piece.key for piece in pieces] != list(self._shown) and self._quota.room:
            self._arrange(pieces)
        for piece in pieces:
            if piece.key in self._shown:
                self._quota.say(self._shown[piece.key], piece.html)

    def _arrange(self, pieces: Sequence[Piece]) -> None:
        """New ones, and no longer those that are no more."""
        before = self._shown
        self._shown = {piece.key: before.get(piece.key) or self._made(piece) for piece in pieces}
        self._quota.say(self.box, tuple(self._shown.values()), "children")
        for key, widget in before.items():
            if key not in self._shown:
                widget.close()

    def _made(self, piece: Piece) -> Any:
        made = self._widgets.HTML(piece.html, **self._alike)
        self._alike = {"layout": made.layout, "style": made.style}
        return made


class Thoughts:
    """The reasoning, folded. Nothing of it is sent until somebody opens it."""

    def __init__(self, widgets: Any, quota: Quota, wanted: Callable[[], None]) -> None:
        self.box = widgets.VBox()
        self._widgets = widgets
        self._quota = quota
        self._wanted = wanted
        self._fold: Any = None

    def paint(self, thoughts: str) -> None:
        if thoughts and self._fold is None and self._quota.room:
            self._fold = self._widgets.Accordion([self._widgets.HTML()], titles=("reasoning",), selected_index=None)
            self._fold.observe(lambda _: self._wanted(), "selected_index")
            self._quota.say(self.box, (self._fold,), "children")
        if self._fold is not None and self._fold.selected_index is not None:
            self._quota.say(self._fold.children[0], thoughts_html(thoughts))


class Mirror:
    """The answer once more, for a page that was loaded anew and cannot see the outputs below."""

    def __init__(self, stage: Stage) -> None:
        self.box = stage.widgets.VBox()
        self.box.add_class("hermes-answer")
        self._stage = stage
        self._answer = Answer(lambda: Leaf(stage.widgets, self.box))

    def paint(self, picture: Picture) -> None:
        if self._stage.again:
            self._answer.paint(picture)

    def finish(self, picture: Picture) -> None:
        if self._stage.again:
            self._answer.finish(picture)
