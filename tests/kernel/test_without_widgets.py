"""A kernel in whose environment widgets are broken, of another time than what they need: nothing is lost but what moves."""

from __future__ import annotations

import sys

import pytest

from hermes_kernel.testing import Server, call, late, say
from magics.panels.faces import PANELS
from tests.kernel.conftest import Kernel


@pytest.fixture(scope="module", params=["ImportError", "AttributeError"])
def bare(request, tmp_path_factory):
    """The kernel `hermes`, which finds broken widgets in the folder where it is started."""
    home = tmp_path_factory.mktemp("home")
    (home / "ipywidgets").mkdir()
    (home / "ipywidgets" / "__init__.py").write_text(f"raise {request.param}('not with this Python')\n")
    kernel = Kernel("hermes", sys.executable, home)
    yield kernel
    kernel.close()


def test_where_widgets_are_broken_a_slow_turn_is_a_line_and_a_question_is_asked_over_stdin(bare):
    with Server([late(call("clarify", {"question": "Which?", "choices": ["a", "b"]}), 0.8), say("Done.")]) as server:
        bare.ask_server(server)
        ran = bare.run("Go.", cell_id="c1", answer=lambda _: "2")
        assert ran.status == "ok", ran.error
        assert "Done." in ran.text
        assert server.requests[-1].messages[-1]["content"] == "b"


@pytest.mark.parametrize("name", sorted(PANELS))
def test_where_widgets_are_broken_each_command_shows_its_document(bare, name):
    ran = bare.run(f"%hermes {name}", cell_id="c1")
    assert ran.status == "ok", ran.error
    assert ran.shown()
