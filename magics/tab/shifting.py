"""Who answers when a front end asks what stands at the cursor. IPython itself is told only the name there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from magics.desk import Desk


class Inspection:
    """Answers a kernel's inspection first, as long as this is on: of what is none of ours, it is asked as ever."""

    def __init__(self, shell: InteractiveShell, desk: Callable[[], Desk]) -> None:
        self._kernel: Any = getattr(shell, "kernel", None)
        self._desk = desk
        self._before: Any = None

    def begin(self) -> None:
        """From here on; nothing where there is no kernel."""
        if self._kernel is not None and self._before is None:
            self._before = self._kernel.do_inspect
            self._kernel.do_inspect = self._answer

    def end(self) -> None:
        """Leave it as it was."""
        if self._before is not None:
            del self._kernel.do_inspect
            self._before = None

    def _answer(self, code: str, cursor_pos: int, *more: Any, **options: Any) -> Any:
        is_prompt = getattr(self._kernel, "is_prompt", lambda _: False)(code)
        if text := self._told(code, cursor_pos, prompt=is_prompt) if is_prompt or "%hermes" in code else "":
            return {"status": "ok", "found": True, "data": {"text/plain": text}, "metadata": {}}
        return self._before(code, cursor_pos, *more, **options)

    def _told(self, code: str, cursor: int, *, prompt: bool) -> str:
        from magics.tab.inspecting import told

        return told(self._desk(), code, cursor, prompt=prompt)
