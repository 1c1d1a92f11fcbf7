"""The original Hermes Agent: its `AIAgent`, its session database on disk, two tools of ours in its registry.

It is synchronous, and is stopped by its `interrupt` from another thread. `HERMES_HOME` is a fresh folder.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

HOME = Path(tempfile.mkdtemp())
os.environ |= {"HERMES_HOME": str(HOME), "HERMES_QUIET": "1", "HERMES_YOLO_MODE": "1"}
HOME.joinpath("config.yaml").write_text("model:\n  context_length: 10000000\n")

from hermes_state import SessionDB  # noqa: E402 - it reads its environment when it is imported
from run_agent import AIAgent  # noqa: E402
from tools.registry import registry  # noqa: E402
from toolsets import create_custom_toolset  # noqa: E402

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


class Hermes:
    def __init__(self, url: str, tools: Any) -> None:
        create_custom_toolset("bench", "Two probes.", tools=["probe", "nap"])
        if tools.patience:
            os.environ["HERMES_STREAM_STALE_TIMEOUT"] = str(tools.patience)
        nap_is_async = asyncio.iscoroutinefunction(tools.nap)
        self._register("probe", tools.probe, is_async=False)
        self._register("nap", tools.nap, is_async=nap_is_async)
        self._url = url
        self._store = SessionDB(HOME / "state.db")
        self._agent: Any = None

    async def ask(self, prompt: str, steps: int) -> None:
        self._agent = AIAgent(
            base_url=self._url,
            api_key="none",
            provider="custom",
            model="any",
            max_iterations=steps + 2,
            enabled_toolsets=["bench"],
            quiet_mode=True,
            skip_context_files=True,
            skip_memory=True,
            session_db=self._store,
        )
        found = await asyncio.to_thread(self._agent.run_conversation, prompt, stream_callback=lambda _: None)
        if found.get("failed"):
            raise RuntimeError(str(found.get("error") or found.get("final_response")))

    def stop(self) -> None:
        self._agent.interrupt()

    @staticmethod
    def _register(name: str, function: Any, *, is_async: bool) -> None:
        schema = {"name": name, "description": "Probe a number.", "parameters": NUMBER}
        handler = (lambda given, **_: function(**given)) if not is_async else _awaited(function)
        registry.register(name, "bench", schema, handler, is_async=is_async)


def _awaited(function: Any) -> Any:
    async def handler(given: dict[str, int], **_: object) -> str:
        return str(await function(**given))

    return handler


made = Hermes
