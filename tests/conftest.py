"""What everything is tested under."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Whoever tests a slow loop sets it going; no other test is to be visited by one.
os.environ["HERMES_LEARNING"] = "off"
os.environ["HERMES_SCHEDULE_WATCH"] = "off"

# A law holds on a slow machine, too. The gate looks at the same examples each time, so that what fails has been changed;
# `--hypothesis-profile long` looks at more, and at others.
settings.register_profile("laws", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=1_000)
settings.load_profile("laws")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files in which something is slow come first, then those with many tests. Workers take one file after another: a
    long one that begins last has all but one of them wait."""
    many = Counter(item.path for item in items)
    slow = {item.path for item in items if item.path.suffix == ".ipynb" or item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, -many[item.path]))


@pytest.fixture(scope="session", autouse=True)
def _interrupts_are_heard() -> Iterator[None]:
    """By Python's own handler, as in a kernel: workers that run tests side by side ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module", autouse=True)
def _figures_are_closed() -> Iterator[None]:
    """Whoever runs code is told of figures that are open in his process: no file of tests finds those of another."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
