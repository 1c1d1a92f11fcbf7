"""What papermill puts into a notebook of prompts is Python; what a person writes under the same title is not."""

from __future__ import annotations

import pytest

from hermes_kernel.cell import as_ipython


@pytest.mark.parametrize(
    "cell",
    [
        "# Parameters\nn = 21\n",
        "# Parameters\nname = \"Ada\"\nrate = float('nan')\nrows = [1, 2]\nnothing = None\n",
        '# Parameters\nsizes = {\n    "a": 1,\n    "b": [True, -2.5],\n}\n',
    ],
)
def test_parameters_are_set_and_no_model_is_asked(cell):
    assert as_ipython(cell, {}) == cell


@pytest.mark.parametrize(
    "cell",
    [
        "# Parameters",
        "# Parameters\nWhich of them matter?",
        "# Parameters\nn",
        "# Parameters\nn = 21\nSay what n is.",
        "# Parameters of the model\nn = 21",
        "# Parameters\n" + "(" * 5000,
        "# Parameters\nn = '\x00'",
        "n = 21",
    ],
)
def test_anything_else_is_a_prompt(cell):
    assert as_ipython(cell, {}) == f"%%hermes\n{cell}"
