"""A kernel started as `jupyter_client` starts one, but again where another process took one of its ports between their
choice and its start: ephemeral ports are everybody's, and a gate starts thousands of kernels."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from jupyter_client import BlockingKernelClient, KernelManager

from hermes_kernel.world.kernels.last_words import TAKEN

STARTS = 4
LOOKS, LOOK_SECONDS = 12, 5  # of IPython's kernels one without its port of `iopub` hangs for good


class Started:
    """A kernel that answers, by its ``manager``, and the ``client`` that it answered."""

    def __init__(self, made: Callable[[], KernelManager] = KernelManager, **launch: Any) -> None:
        for _ in range(STARTS):
            self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the kernel
            self.manager = made()
            self.manager.start_kernel(stderr=self._words, **launch)
            self.client: BlockingKernelClient = self.manager.client()
            self.client.start_channels()
            if self._answers():
                return
            self.close()
        raise AssertionError(f"a port was taken {STARTS} times")

    def _answers(self) -> bool:
        for _ in range(LOOKS):
            with suppress(RuntimeError):
                self.client.wait_for_ready(timeout=LOOK_SECONDS)
                return True
            if TAKEN in self._said():
                return False
            if not self.manager.is_alive():
                break
        self.close()
        raise AssertionError("the kernel does not answer")

    def _said(self) -> bytes:
        self._words.seek(0)
        return self._words.read()

    def close(self) -> None:
        """End it, and show what it wrote beside its cells, for whoever wonders why."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        if not self._words.closed:
            print(self._said().decode(errors="replace"), end="", file=sys.stderr)
            self._words.close()
