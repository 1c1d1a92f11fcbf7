"""Where something is shown that changes, and what stays of it: a `Spot` is an output that is put again, a `Stage` has
widgets on it until a document takes their place, and an `Understudied` spot has that document beside them.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from hermes_kernel.view import escape
from hermes_kernel.view.look import SHEET

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

VIEW = "application/vnd.jupyter.widget-view+json"
NOTHING = {"text/html": "", "text/plain": ""}
TOP = """<style>
.hermes-panel .hermes-top{flex-wrap:nowrap;align-items:flex-start}
.hermes-panel .hermes-top>.widget-html{flex:1 1 0;margin:2px}
</style>"""


class Spot:
    """One output that can be put again. Its id is the display's alone and is not saved."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._publish = shell.display_pub.publish
        self._id = uuid.uuid4().hex
        self._there = False

    def put(self, bundle: Mapping[str, object]) -> None:
        """This, from here on."""
        self._publish(dict(bundle), transient={"display_id": self._id}, update=self._there)
        self._there = True


class Understudied(Spot):
    """A spot whose widgets are there when their cell has ended: the document in their stead is an output of its own,
    above theirs. A page hides it as long as they live. Where they are no more, the page has an error to show in their
    place: it hides that instead. Needs its ``sheet`` among the widgets."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._document = Spot(shell)
        self._name = f"hermes-of-{uuid.uuid4().hex}"
        output = f".jp-OutputArea-child:has(.{self._name})"
        self.sheet = f"<style>.{self._name},{output}{{display:none}}</style>"
        self._alone = f"<style>{output}+.jp-OutputArea-child:not(:has(.hermes-panel)){{display:none}}</style>"

    def put(self, bundle: Mapping[str, object]) -> None:
        """Widgets and their document, or a document that has taken their place."""
        said = {mime: str(text) for mime, text in bundle.items() if mime != VIEW}
        if VIEW in bundle:
            html = f'<div class="{self._name}">{self._alone}{_document(said)}</div>'
            self._document.put({**said, "text/html": html})
            super().put({VIEW: bundle[VIEW], **NOTHING})
        else:
            self._document.put(said)
            super().put(NOTHING)


class Stage:
    """Widgets in one output, one below the other.

    A page that is loaded anew finds the widgets again, by their models, but no output that it could put again. So what
    has been shown there once stays a widget, and shows the document itself when it is over.
    """

    def __init__(
        self, shell: InteractiveShell, widgets: Any, *, name: str = "", spot: Spot | None = None, sheet: str = ""
    ) -> None:
        self.widgets = widgets
        self._shell = shell
        self._spot = spot or Spot(shell)
        self._sheet = widgets.HTML(SHEET + TOP + sheet, layout={"display": "none"})
        names = ("hermes-panel", *([f"hermes-{name}"] if name else []))
        self._root = _root()((self._sheet,), _dom_classes=names)
        self._children: tuple[Any, ...] = ()
        self._guests: tuple[Any, ...] = ()
        self._over = False

    @property
    def again(self) -> bool:
        """A page was loaded since this is shown, and knows nothing of its output."""
        return bool(self._root.asked)

    @property
    def over(self) -> bool:
        """A document has taken the place of the widgets."""
        return self._over

    def show(self, children: Sequence[Any], bundle: Mapping[str, str]) -> None:
        """These widgets. `bundle` is the document in their stead where there are no widgets to be had."""
        self.put(children)
        self._root.shown_to(self._shell)
        self.restate(bundle)

    def restate(self, bundle: Mapping[str, str]) -> None:
        """Another document in their stead."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self._root.model_id}
        self._spot.put({VIEW: view, **bundle})

    def put(self, children: Sequence[Any]) -> None:
        """Other widgets in the same output; guests stay below them."""
        self._children = tuple(children)
        self._root.children = (self._sheet, *self._children, *self._guests)

    def host(self, guest: Any) -> None:
        """Somebody else's widget below ours, such as a question: it is found again where ours are."""
        self._guests = (*self._guests, guest)
        self.put(self._children)

    def release(self, guest: Any) -> None:
        """The guest goes; its owner closes it."""
        self._guests = tuple(each for each in self._guests if each is not guest)
        if not self._over:
            self.put(self._children)

    def settle(self, bundle: Mapping[str, str], *, stays: Sequence[Any] = ()) -> None:
        """A document in place of the widgets: it stays in the notebook. Every model goes, unless a page that was
        loaded anew has nothing else to show: there the document is a widget, and those that are to stay are below."""
        if self._over:
            return
        self._over = True
        self._spot.put(bundle)
        goes = [each for each in self._children if not self.again or each not in stays]
        if self.again:
            self._guests = ()
            self.put((self.widgets.HTML(_document(bundle)), *(each for each in self._children if each not in goes)))
        else:
            goes += [self._sheet, self._root]
        for widget in goes:
            dismiss(widget)


def _document(bundle: Mapping[str, str]) -> str:
    """What a document looks like within a widget."""
    plain = bundle.get("text/plain", "")
    return bundle.get("text/html") or f'<pre style="white-space:pre-wrap">{escape(plain)}</pre>'


def dismiss(widget: Any) -> None:
    """Close a widget, those in it, and the models that only they use."""
    for below in getattr(widget, "children", ()):
        dismiss(below)
    for name in ("layout", "style"):
        part = getattr(widget, name, None)
        if part is not None:
            part.close()
    widget.close()


@cache
def _root() -> Any:
    """The class of a stage's box, made when widgets are first needed."""
    import ipywidgets

    class Root(ipywidgets.VBox):
        """A box that notices when a page asks for all it knows which is not the page it was shown to."""

        asked = False
        _shell: Any = None
        _page = ""

        def shown_to(self, shell: InteractiveShell) -> None:
            """From here on, the page that runs the present cell is the one that knows."""
            self._shell, self._page, self.asked = shell, _page(shell), False

        def get_state(self, key: Any = None, *args: Any, **options: Any) -> Any:
            if key is None and self._shell is not None:
                self.asked = self.asked or _page(self._shell) != self._page
            return super().get_state(key, *args, **options)

    return Root


def _page(shell: InteractiveShell) -> str:
    """The page whose message is being handled. A page that is loaded anew has another name; one that has lost its
    connection for a while has not."""
    kernel: Any = getattr(shell, "kernel", None)
    message = kernel.get_parent("shell") if kernel is not None else None
    return str(((message or {}).get("header") or {}).get("session", ""))
