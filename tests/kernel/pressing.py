"""A page that shows widgets, as far as a test needs one: it knows every model by what a kernel tells, and presses."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.kernel.conftest import Kernel

VIEW = "application/vnd.jupyter.widget-view+json"
PATIENCE = 60.0  # seconds; nothing is tested by them
READ = 0.35  # seconds after which a second press confirms
SETTLED = 0.3  # seconds without a word: nothing is on its way


class Page:
    """What one command's panel shows, told by comm messages."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.models: dict[str, dict[str, Any]] = {}
        self.closed: set[str] = set()
        self.named: dict[str, float] = {}  # when each control was last called otherwise
        self.outputs: list[dict[str, Any]] = []

    def show(self, line: str) -> Page:
        """Run the cell `line` as a notebook does."""
        ran = self.kernel.run(line, cell_id="panel")
        assert ran.status == "ok", ran.error
        for message in ran.messages:
            self._hear(message)
        return self

    # --- what is seen

    def labels(self, name: str) -> list[str]:
        """The rows of the list."""
        return list(self._state(name).get("_options_labels", ()))

    def html(self) -> str:
        """All that stands in places for HTML, and in outputs of the panel."""
        self._listen(0)
        there = [state for model, state in self.models.items() if model not in self.closed]
        pages = [state["value"] for state in there if state.get("_view_name") == "HTMLView"]
        pages += [str(state["outputs"]) for state in there if state.get("outputs")]
        return "\n".join(each for each in pages if "<style>" not in each)

    def value(self, name: str) -> Any:
        """What stands in a field."""
        return self._state(name)["value"]

    def has(self, name: str) -> bool:
        """A control of this name can be seen: it stands in a box that does."""
        with suppress(AssertionError):
            model = self._model(name)
            return model in self._placed()
        return False

    def until(self, seen: Callable[[Page], Any], what: str = "") -> None:
        """Listen until something is seen."""
        end = time.monotonic() + PATIENCE
        while not seen(self):
            assert time.monotonic() < end, f"{what or 'it'} is not seen: {self.html()[-2500:]}"
            self._listen(0.2)

    def says(self, words: str) -> None:
        """Listen until these words are on the page."""
        self.until(lambda page: words in page.html(), repr(words))

    def offers(self, name: str) -> None:
        """Listen until a control of this name can be seen."""
        self.until(lambda page: page.has(name), f"the control {name!r}")

    def lacks(self, name: str) -> None:
        """Listen until no control of this name can be seen."""
        self.until(lambda page: not page.has(name), f"a page without {name!r}")

    def quiet(self, seconds: float = SETTLED) -> int:
        """Listen until nothing has been said for so long; how many messages there were."""
        heard = 0
        while self._listen(seconds):
            heard += 1
        return heard

    # --- what is pressed

    def press(self, name: str) -> None:
        """Click the button of this name; one that is called otherwise now, once a person could have read it."""
        self.offers(name)
        read = self.named.get(self._model(name), 0.0) + READ
        self.until(lambda _: time.monotonic() > read)
        self._send(self._model(name), {"method": "custom", "content": {"event": "click"}, "buffers": []})

    def insist(self, name: str, words: str) -> None:
        """Click the button until these words are on the page, as a person does whom it seems not to have heard."""
        end = time.monotonic() + PATIENCE
        while words not in self.html():
            assert time.monotonic() < end, f"{words!r} is not seen: {self.html()[-2500:]}"
            self.press(name)
            while words not in self.html() and self._listen(2 * READ):
                pass

    def choose(self, name: str, words: str) -> None:
        """Choose the row of a list that has these words in it."""
        self.until(lambda page: any(words in each for each in page.labels(name)), f"a row with {words!r}")
        at = next(n for n, each in enumerate(self.labels(name)) if words in each)
        self._change(name, index=at)

    def type(self, name: str, text: str) -> None:
        """Type in a field."""
        self._change(name, value=text)

    # --- messages

    def _change(self, name: str, **state: Any) -> None:
        model = self._model(name)
        self.models[model] |= state
        self._send(model, {"method": "update", "state": state, "buffer_paths": []})

    def _send(self, model: str, data: dict[str, Any]) -> None:
        message = self.kernel.client.session.msg("comm_msg", {"comm_id": model, "data": data})
        if self.kernel.subshell:  # as pages do
            message["header"]["subshell_id"] = self.kernel.subshell
        self.kernel.client.shell_channel.send(message)

    def _listen(self, seconds: float) -> bool:
        """Whether something was said within so many seconds."""
        try:
            self._hear(self.kernel.client.get_iopub_msg(timeout=seconds))
        except queue.Empty:
            return False
        while True:
            try:
                self._hear(self.kernel.client.get_iopub_msg(timeout=0))
            except queue.Empty:
                return True

    def _hear(self, message: dict[str, Any]) -> None:
        content = message["content"]
        match message["header"]["msg_type"]:
            case "comm_open":
                self.models[content["comm_id"]] = dict(content["data"].get("state", {}))
            case "comm_msg" if content["data"].get("method") == "update":
                state = content["data"]["state"]
                if "description" in state:
                    self.named[content["comm_id"]] = time.monotonic()
                self.models.setdefault(content["comm_id"], {}).update(state)
            case "comm_close":
                self.closed.add(content["comm_id"])
            case "display_data" | "update_display_data":
                self._see(content["data"])

    def _see(self, data: dict[str, Any]) -> None:
        """Widgets and the document that they hide, in the output above theirs, are one; of settled ones nothing is left."""
        if VIEW in data and self.outputs:
            self.outputs[-1] = {**self.outputs[-1], VIEW: data[VIEW]}
        elif any(data.values()):
            self.outputs.append(data)

    def _model(self, name: str) -> str:
        named = [
            model
            for model, state in self.models.items()
            if state.get("description") == name and model not in self.closed
        ]
        assert named, f"there is no {name!r}: {sorted(str(s.get('description')) for s in self.models.values())}"
        return named[-1]

    def _state(self, name: str) -> dict[str, Any]:
        return self.models[self._model(name)]

    def _placed(self) -> set[str]:
        """The models in the boxes that are shown."""
        views = [output.get(VIEW, {}) for output in self.outputs]
        left = [view["model_id"] for view in views if view]
        found: set[str] = set()
        while left:
            model = left.pop()
            if model not in found and model not in self.closed:
                found.add(model)
                left += [each.removeprefix("IPY_MODEL_") for each in self.models.get(model, {}).get("children", ())]
        return found
