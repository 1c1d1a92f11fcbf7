"""One JupyterLab and one browser for all that a process tests. Screenshots are kept: see `lab.SHOTS`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.lab import Lab, running_lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory) -> Iterator[Lab]:
    """JupyterLab and a browser: `lab.notebook(…)` and `lab.drive(…)`."""
    with running_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab
