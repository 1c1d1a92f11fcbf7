"""A conversation whose process is killed at random moments, one to three times, and what is found afterwards.

The moment is a number of facts told, of touches of the disk, or a time; the death comes from within or from outside. In
some lives the home is folded, the conversation compressed, the traffic recorded, or another process is in the home.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

from hermes_kernel.testing import Server
from tests.campaign import leaks
from tests.campaign.lives import acknowledged
from tests.campaign.model import Model
from tests.campaign.sessions import Tale
from tests.kill.acks import await_acknowledged
from tests.kill.nursery import Nursery, nursery

KILLED, FOUND = -9, 0
KINDS = ("turns", "turns", "fold", "compress", "record", "two processes", "delegate")
WAYS = ("touch", "before a fact", "after a fact", "outside", "time")
WINDOW = {"context_window": 7000, "compress_at": 0.05, "compress_hard_at": 0.5, "protect_first": 0, "protect_last": 2}

_LEAVING = ExitStack()


@cache
def children(which: str) -> Nursery:
    """The process whose children live and die; one of each for this process, with which it ends."""
    return _LEAVING.enter_context(nursery(f"tests.campaign.lives:{which.strip()}"))


def leave() -> None:
    """They end."""
    children.cache_clear()
    _LEAVING.close()


def play(seed: str) -> Tale:
    """One conversation, killed and found.

    Raises:
        AssertionError: something that was promised does not hold.
    """
    dice, tale = random.Random(seed), Tale(seed)
    with leaks.folders() as root, Server(Model(seed, slow=False, weights=(3, 12, 1, 1, 1, 1))) as server:
        kind = dice.choice(KINDS)
        tale.note("lives", kind)
        for number in range(dice.choice([1, 1, 2, 3])):
            _killed(tale, root, server.url, dice, _deal(kind, number, root, dice))
        deal = {**_deal(kind, 9, root, dice), "turns": 1}
        told = acknowledged(root)
        tale.note("facts told before a kill", *["all"] * sum(len(life) for lives in told.values() for life in lives))
        ended = children("found").run({"root": str(root), "url": server.url, "seed": seed, "deal": deal})
        assert ended == FOUND, f"{seed} ({kind}): {_failure(root)}"
    return tale


def _deal(kind: str, number: int, root: Path, dice: random.Random) -> dict[str, Any]:
    """What one life does, and how it dies. Its settings are quick, and none of them makes it look back."""
    settings: dict[str, Any] = {"learning": False, "retry_base_seconds": 0, "max_iterations": dice.choice([3, 8])}
    if kind == "compress":
        settings |= WINDOW
    if kind == "record":
        settings |= {"record": str(root / "home" / "tape.jsonl"), "aux_model": "", "fallback_models": ()}
    if kind == "delegate":
        settings |= {"delegate_depth": 1}
    return {
        "acks": f"acks-{number}", "settings": settings, "folds": kind == "fold", "turns": 8, "session": "", "last": 0,
        "before": False, "touch": 0,
    }  # fmt: skip


def _killed(tale: Tale, root: Path, url: str, dice: random.Random, deal: dict[str, Any]) -> None:
    told = acknowledged(root)
    deal["session"] = dice.choice([*told][-3:]) if told and dice.random() < 0.8 else ""
    way = dice.choice(WAYS)
    until = None
    match way:
        case "touch":
            deal["touch"] = dice.randint(1, 60)
        case "before a fact" | "after a fact":
            deal |= {"last": dice.randint(1, 60), "before": way == "before a fact"}
        case "outside":
            until = partial(_moment, root / deal["acks"], dice.randint(0, 40), dice.uniform(0, 0.008))
        case _:
            until = partial(time.sleep, dice.uniform(0, 0.4))
    task = {"root": str(root), "url": url, "seed": f"{tale.seed}/{deal['acks']}", "deal": deal}
    alone = not tale.counts["lives: two processes"]
    ended = children("killed").run(task, until) if alone else _beside(task, until)
    if ended == KILLED:
        tale.turns += 1
        tale.note("killed by", way)
    else:
        tale.note("killed by", "nothing: it had ended before")
    assert ended in (KILLED, 0), f"{tale.seed}: {_failure(root)}"


def _beside(task: dict[str, Any], until: Any) -> int:
    """The same while another process plays in the home, which comes to no harm by it."""
    deal = task["deal"]
    other = {**deal, "acks": f"{deal['acks']}-other", "session": "", "last": 0, "touch": 0, "turns": 3}
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(children("killed ").run, {**task, "seed": f"{task['seed']}/other", "deal": other})
        ended = children("killed").run(task, until)
        assert beside.result() == 0, f"beside: {_failure(Path(task['root']))}"
    return ended


def _moment(acks: Path, awaited: int, more: float) -> None:
    """Return shortly after so many facts were told."""
    await_acknowledged(acks, awaited, (acks.parent / f"failure-{acks.name}").exists)
    time.sleep(more)


def _failure(root: Path) -> str:
    """What a life said of its end."""
    return "\n".join(path.read_text() for path in sorted(root.glob("failure-*"))) or "it said nothing"
