"""What the package gives to pytest: fixtures for agents and notebooks, and notebooks replayed where a cassette is
beside them. Every run of pytest loads it where the package is installed, so it loads nothing before it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hermes_kernel.testing.factories import Agents, Servers
    from hermes_kernel.testing.notebook import Notebook

SANITIZE = Path(__file__).with_name("sanitize.cfg")
OURS = "hermes"  # in place of a path after --nbval-sanitize-with
LIVE = "--hermes-live"
WHO = (  # what says which model is asked
    "HERMES_BASE_URL", "HERMES_API_KEY", "HERMES_MODEL", "HERMES_FALLBACK_MODELS", "OPENAI_BASE_URL", "OPENAI_API_KEY",
)  # fmt: skip
SLOW_LOOPS = ("HERMES_LEARNING", "HERMES_SCHEDULE_WATCH")
PASSED = pytest.StashKey[bool]()


# --- what pytest is told


def pytest_addoption(parser: pytest.Parser) -> None:
    """See `pytest --help`."""
    group = parser.getgroup("hermes", "agents in notebooks (hermes-kernel)")
    group.addoption(
        LIVE, action="store_true",
        help="ask real models in notebooks, also where a cassette (NAME.cassette.jsonl) is beside them",
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """``--nbval-sanitize-with hermes`` is the file that comes with the package."""
    if getattr(config.option, "nbval_sanitize_with", None) == OURS:
        config.option.nbval_sanitize_with = str(SANITIZE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """The kernel of a notebook is started when its first cell is set up, and inherits what is set here."""
    if type(item).__name__ != "IPyNbCell":
        return (yield)
    from hermes_kernel.testing.starting import once_more

    with pytest.MonkeyPatch.context() as patch:
        _replay(item.path, patch, item.config)
        notebook: Any = item.parent
        patch.setattr(notebook, "setup", once_more(notebook.setup))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Whether the test itself passed: what is left of a script is worth no second error."""
    if call.when == "call":
        item.stash[PASSED] = call.excinfo is None
    return (yield)


# --- the fixtures


@pytest.fixture
def hermes_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> Path:
    """A folder of this test's own as HERMES_HOME: no memory, skill, setting or key of yours goes in or out.

    All other HERMES_* variables are unset, and no slow loop (nudge, review, curator, schedule) starts by itself.
    """
    _alone(monkeypatch, WHO if pytestconfig.getoption(LIVE) else ())
    home = tmp_path / "hermes"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(home))
    for name in SLOW_LOOPS:
        monkeypatch.setenv(name, "off")
    return home


@pytest.fixture
def hermes_server(
    hermes_home: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Servers]:
    """Start a model that says what you write: `hermes_server([call("price", {"sku": "A1"}), say("It costs 3 EUR.")])`.

    A real server on loopback, which every agent and notebook of this test asks from now on. At the end of a test that
    passed it is an error if the script was not used up, or had too few steps; one marked `forever` needs no request.
    """
    from hermes_kernel.testing.factories import Servers

    __tracebackhide__ = True
    with Servers(monkeypatch) as servers:
        yield servers
    if request.node.stash.get(PASSED, False):
        servers.check()


@pytest.fixture
def hermes_agent(hermes_home: Path, request: pytest.FixtureRequest) -> Iterator[Agents]:
    """Make an agent that is answered so: `hermes_agent([call("price", {"sku": "A1"}), say("3 EUR.")], tools=[price])`.

    It is asked by `agent.ask_sync(...)` or `await agent.ask(...)`, waits pass at once, and it is closed at the end. In
    place of a script: a model of your own or the name of one; nothing, to ask the `hermes_server`. Any setting by name.
    """
    from hermes_kernel.testing.factories import Agents

    __tracebackhide__ = True
    with Agents() as agents:
        yield agents
    if request.node.stash.get(PASSED, False):
        agents.check()


@pytest.fixture
def hermes_notebook(hermes_home: Path, request: pytest.FixtureRequest) -> Callable[..., Notebook]:
    """Run a notebook from top to bottom: `hermes_notebook("shop.ipynb").text` is what it showed.

    A relative path is one beside the test. The model it asks is the `hermes_server`; without one, the cassette beside
    the notebook is replayed. A cell that fails is an error with its traceback.
    """
    from hermes_kernel.testing.notebook import run_notebook

    def run(path: str | os.PathLike[str], **options: Any) -> Notebook:
        found = request.path.parent / path
        with pytest.MonkeyPatch.context() as patch:
            if "HERMES_BASE_URL" not in os.environ:
                _replay(found, patch, request.config)
            return run_notebook(found, **options)

    return run


def _replay(notebook: Path, patch: pytest.MonkeyPatch, config: pytest.Config) -> None:
    """For what is started now: the cassette beside `notebook`, if there is one, and nothing that is set for a person.
    A cassette that was set on purpose stands, and so does how it is to be played. Sets have the order that they have in
    ``hermes-kernel run``."""
    from hermes_kernel.world.recording.beside import beside

    cassette = beside(notebook)
    if config.getoption(LIVE):
        patch.delenv("HERMES_REPLAY", raising=False)
    elif cassette.is_file() and not os.environ.get("HERMES_REPLAY"):
        _alone(patch, [name for name in os.environ if name.startswith("HERMES_REPLAY_")])
        patch.setenv("HERMES_REPLAY", str(cassette))
        patch.setenv("PYTHONHASHSEED", os.environ.get("PYTHONHASHSEED", "0"))


def _alone(patch: pytest.MonkeyPatch, kept: Collection[str] = ()) -> None:
    """Without what a person has set for agents, but for what is `kept`."""
    for name in tuple(os.environ):
        if name.startswith(("HERMES_", "OPENAI_")) and name not in kept:
            patch.delenv(name)
