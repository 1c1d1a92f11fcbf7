"""How often widgets may change: at most ten times in any second, all of them together, whatever happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

MOST, SECONDS = 10, 1.0


class Quota:
    """Changes what is to be changed as long as there is room. What has no room now is changed when it is wanted again,
    so whoever uses it says the most important first, and says it again within a moment."""

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time
        self._sent: deque[float] = deque(maxlen=MOST)

    def say(self, widget: Any, value: Any, name: str = "value") -> bool:
        """Whether the widget shows it now."""
        if getattr(widget, name) == value:
            return True
        if not self.room:
            return False
        self._sent.append(self._time())
        setattr(widget, name, value)
        return True

    @property
    def room(self) -> bool:
        """One more is allowed."""
        return len(self._sent) < MOST or self._time() - self._sent[0] > SECONDS
