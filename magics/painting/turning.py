"""A running turn, of widgets: what it is at, a Stop button, what it has used, its tools, its subagents, its thoughts.

Keeps true: each piece is a widget of its own and is sent again only when it has changed; the button and the focus stay
where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes_kernel.view import Picture, escape
from hermes_kernel.view.look import LINE, QUIET
from hermes_kernel.view.turn.anew import unsaved_html
from hermes_kernel.view.turn.panel import Panel, Piece, meter_html, spoken_html, status_html, thoughts_html
from magics.painting.answer import Answer, Leaf
from magics.painting.quota import Quota
from magics.painting.stage import Stage, dismiss
from magics.painting.stopping import beside, narrow, stop_button

SPOKEN = 1.0  # seconds between two things that are read out
SHUT, OPEN = "caret-right", "caret-down"
SHEET = f"""<style>
.hermes-turn{{padding:2px 0}}
.hermes-turn>.widget-vbox{{gap:2px}}
.hermes-turn .hermes-meters{{gap:0 24px}}
.hermes-turn .hermes-meters>.widget-html{{flex:0 1 auto;margin:0 2px;max-width:100%}}
.hermes-turn .hermes-meters>.widget-html:first-child{{flex:1 1 20em}}
.hermes-turn .hermes-cost{{color:{QUIET};min-height:1.5em;font-variant-numeric:tabular-nums}}
.hermes-turn .hermes-answer{{border-left:2px solid {LINE};padding-left:12px;margin-top:4px}}
.hermes-turn .hermes-fold{{background:none;align-self:flex-start;padding:0 2px;height:1.5em;line-height:1.5em;
  color:{QUIET}}}
</style>"""


class Turning:
    """The widgets of one turn, on a stage. ``press`` stops the turn; ``wanted`` asks for a painting soon."""

    def __init__(
        self,
        stage: Stage,
        first: Panel,
        press: Callable[[], None],
        wanted: Callable[[], None],
        time: Callable[[], float],
    ) -> None:
        self.stage = stage
        self._time = time
        self._announced = time()
        self._quota = Quota(time)
        widgets, text = stage.widgets, Texts(stage.widgets)
        self._line, self._spoken, self._budget, self._other = map(text, _said(first))
        look = {"layout": self._line.layout}
        self._pieces = Pieces(text, widgets.VBox(**look), self._quota)
        self._thoughts = Thoughts(stage, wanted, self._quota)
        self._answer: Mirror | None = None
        top = beside(widgets, self._line, stop_button(widgets, press, **look), **look)
        meters = widgets.HBox((self._budget, self._other), _dom_classes=("hermes-meters",), **look)
        self._always = (top, self._spoken, meters, self._pieces.box)
        self._children: tuple[Any, ...] = self._always

    def show(self, bundle: Mapping[str, str]) -> None:
        """Be there. `bundle` is the document in the stead of widgets."""
        self.stage.show(self._children, bundle)

    def paint(self, panel: Panel, picture: Picture) -> bool:
        """What has changed, the most important first. Whether all of it is shown: there may be no room now."""
        self._quota.refused = False
        self._say(panel)
        self._pieces.paint(panel.pieces)
        self._thoughts.paint(panel.thoughts)
        if self.stage.again:
            self._mirror().paint(picture)
        self._arrange()
        return not self._quota.refused

    def settle(self, bundle: Mapping[str, str], picture: Picture) -> None:
        """It is over."""
        if self.stage.again:
            self._mirror().finish(picture)
            self.stage.put((*self._always, self._mirror().box))
        self.stage.settle(bundle, stays=() if self._answer is None else (self._answer.box,))

    def _mirror(self) -> Mirror:
        self._answer = self._answer or Mirror(self.stage.widgets)
        return self._answer

    def _arrange(self) -> None:
        """What has come to be needed."""
        late = [each.box for each in (self._thoughts, self._answer) if each is not None and each.box is not None]
        if (children := (*self._always, *late)) != self._children and self._quota.take():
            self._children = children
            self.stage.put(children)

    def _say(self, panel: Panel) -> None:
        line, spoken, budget, other = _said(panel)
        self._quota.say(self._line, line)
        now = self._time()
        if self._spoken.value != spoken and now - self._announced >= SPOKEN and self._quota.say(self._spoken, spoken):
            self._announced = now
        self._quota.say(self._other, other)
        self._quota.say(self._budget, budget)


def _said(panel: Panel) -> tuple[str, str, str, str]:
    """The line, what is read out, the budget, and beside it a silence, else what it has cost."""
    beside_it = meter_html(panel.silence) if panel.silence else f'<div class="hermes-cost">{escape(panel.cost)}</div>'
    return narrow(status_html(panel)), spoken_html(panel), meter_html(panel.budget), beside_it


class Texts:
    """Makes texts that look alike, and share the models of their looks."""

    def __init__(self, widgets: Any) -> None:
        self._widgets = widgets
        self._look: dict[str, Any] = {}

    def __call__(self, html: str = "") -> Any:
        made = self._widgets.HTML(html, **self._look)
        self._look = {"layout": made.layout, "style": made.style}
        return made


class Pieces:
    """A widget for each tool call, subagent and note, by its key."""

    def __init__(self, text: Callable[[str], Any], box: Any, quota: Quota) -> None:
        self.box = box
        self._text = text
        self._quota = quota
        self._shown: dict[str, Any] = {}

    def paint(self, pieces: Sequence[Piece]) -> None:
        if [piece.key for piece in pieces] != list(self._shown) and self._quota.room:
            self._arrange(pieces)
        for piece in pieces:
            if piece.key in self._shown:
                self._quota.say(self._shown[piece.key], piece.html)

    def _arrange(self, pieces: Sequence[Piece]) -> None:
        """New ones, and no longer those that are no more."""
        before = self._shown
        self._shown = {piece.key: before.get(piece.key) or self._text(piece.html) for piece in pieces}
        self._quota.say(self.box, tuple(self._shown.values()), "children")
        for key, widget in before.items():
            if key not in self._shown:
                widget.close()


class Thoughts:
    """The reasoning, behind a button: ``box`` is None while there is none. Nothing of it is sent until it is opened."""

    def __init__(self, stage: Stage, wanted: Callable[[], None], quota: Quota) -> None:
        self.box: Any = None
        self._widgets = stage.widgets
        self._wanted = wanted
        self._quota = quota
        self._open = False

    def paint(self, thoughts: str) -> None:
        if not thoughts:
            return
        if self.box is None:
            button = self._widgets.Button(description="reasoning", icon=SHUT, _dom_classes=("hermes-fold",))
            button.on_click(self._turned)
            self.box = self._widgets.VBox((button,))
        if self._open != (len(self.box.children) > 1):
            self._turn()
        for text in self.box.children[1:]:
            self._quota.say(text, thoughts_html(thoughts))

    def _turn(self) -> None:
        """Open or shut, as a person wants it."""
        button, *texts = self.box.children
        if self._quota.take():
            self.box.children = (button, self._widgets.HTML()) if self._open else (button,)
            for text in texts:
                dismiss(text)
        self._quota.say(button, OPEN if self._open else SHUT, "icon")

    def _turned(self, _: Any) -> None:
        self._open = not self._open
        self._wanted()


class Mirror:
    """The answer once more, for a page that was loaded anew and cannot see the outputs below."""

    def __init__(self, widgets: Any) -> None:
        self._text = Texts(widgets)
        self.box = widgets.VBox(_dom_classes=("hermes-answer", "jp-RenderedHTMLCommon"))
        self._answer = Answer(lambda: Leaf(self._text, self.box))
        self.paint = self._answer.paint

    def finish(self, picture: Picture) -> None:
        self._answer.finish(picture)
        self.box.children = (*self.box.children, self._text(unsaved_html()))
