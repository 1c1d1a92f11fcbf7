"""In a spec a home has one name, wherever it is: in what a model reads, and in what it asks for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.recording.normal import Places, plainly

NAME = "$HERMES_HOME"
NOWHERE = Places()


@dataclass(frozen=True, slots=True)
class Alias:
    """The name of ``home``; None: it is called what it is."""

    home: Path | None

    def told(self, text: str) -> str:
        """`text` as it is anywhere. Where in memory something was differs each time, too."""
        if self.home is None:
            return text
        return re.sub(rf"{re.escape(str(self.home))}(?![\w-]|\.\w)", lambda _: NAME, plainly(text, NOWHERE))

    def meant(self, call: ToolCall) -> ToolCall:
        """`call` with the place in it that is meant."""
        if self.home is None or NAME not in call.arguments:
            return call
        return replace(call, arguments=call.arguments.replace(NAME, json.dumps(str(self.home))[1:-1]))
