"""How often widgets may change: at most ten times in any second, all of them together, whatever happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

MOST, SECONDS = 10, 1.0


class Quota:
    """Changes what is to be changed as long as there is room, and remembers whether it ``refused``. So whoever uses it
    says the most important first, and says again in a moment what was refused."""

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time
        self.refused = False
        self._sent: deque[float] = deque(maxlen=MOST)

    def say(self, widget: Any, value: Any, name: str = "value") -> bool:
        """Whether the widget shows it now."""
        if getattr(widget, name) == value:
            return True
        if not self.take():
            return False
        setattr(widget, name, value)
        return True

    def take(self) -> bool:
        """Whether there is room for one more, which is taken then."""
        if not self.room:
            self.refused = True
            return False
        self._sent.append(self._time())
        return True

    @property
    def room(self) -> bool:
        """One more is allowed."""
        return len(self._sent) < MOST or self._time() - self._sent[0] > SECONDS
