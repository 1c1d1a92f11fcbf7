"""A home in which something has been done already: conversations, skills, memory, jobs. What they say is given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.agent import Agent
from hermes_kernel.core.learning.memory import Operation
from hermes_kernel.testing import ScriptedModel, call, forever, say


@dataclass(frozen=True)
class Said:
    """What is in a home: every field is somebody's words."""

    titles: Sequence[str] = ("Which ducks sold best", "Bread for the pond")
    prompt: str = "Which ducks sold best in March?"
    answer: str = "The **mallards**, by far."
    skills: Sequence[tuple[str, str, str]] = (
        (
            "monthly-report",
            "How the report of a month is made.",
            "# Monthly report\n\n1. Read `sales.csv`.\n2. Plot it.\n",
        ),
        ("plotting-well", "Plots that are read at a glance.", "# Plotting well\n\nLabel both axes.\n"),
    )
    memory: Sequence[str] = ("The pond has two hundred ducks.", "Reports are due on Mondays.")
    jobs: Sequence[tuple[str, str, str]] = (
        ("weekly-ducks", "every monday 9am", "Count the ducks."),
        ("bread", "0 7 1 * *", "Order bread for the pond."),
    )


def furnish(home: Path, said: Said = Said()) -> None:
    """Put all of that into `home`, through the agent's own doors where it has any."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "kernel.toml").write_text("schedule_watch = false\nlearning = false\n")
    for name, about, body in said.skills:
        folder = home / "skills" / name
        folder.mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: {json.dumps(about)}\n---\n\n{body}"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
    steps = [call("read_file", {"path": "nowhere.csv"}), forever(say(said.answer))]
    agent = Agent(ScriptedModel(steps), home=home)
    try:
        for number, title in enumerate(said.titles):
            if number:
                agent.new()
            agent.ask_sync(said.prompt)
            agent.title(title)
        agent.branch()
        agent.ask_sync(said.prompt)
        for entry in said.memory:
            agent.learning.memory.apply("memory", [Operation("add", entry)], by="person", consent=True)
        for name, when, prompt in said.jobs:
            agent.jobs.add(when, prompt, name=name, folder=str(home))
    finally:
        agent.close()
