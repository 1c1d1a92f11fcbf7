"""In a spec a home has one name, wherever it is: in what a model reads, in what it asks for, and in what is shown."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.recording.folders import BEHIND
from hermes_kernel.core.recording.normal import Places, plainly
from hermes_kernel.core.recording.ours import HOME_IN_A_SPEC

NOWHERE = Places()


@dataclass(frozen=True, slots=True)
class Alias:
    """The name of ``home``; None: it is called what it is."""

    home: Path | None

    def told(self, text: str) -> str:
        """`text` as it is anywhere. Where in memory something was differs each time, too."""
        if self.home is None:
            return text
        return re.sub(f"{re.escape(str(self.home))}{BEHIND}", lambda _: HOME_IN_A_SPEC, plainly(text, NOWHERE))

    def meant(self, call: ToolCall) -> ToolCall:
        """`call` with the place in it that is meant."""
        if self.home is None or HOME_IN_A_SPEC not in call.arguments:
            return call
        return replace(call, arguments=call.arguments.replace(HOME_IN_A_SPEC, json.dumps(str(self.home))[1:-1]))
