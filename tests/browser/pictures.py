"""The pictures of README, taken from a real JupyterLab: ``python -m tests.browser.pictures`` writes ``docs/pictures``.

What they show is a real agent and a scripted model; take them again when a panel has changed, and look at them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from hermes_kernel.testing import Request, Server, Step, call, calls, late, say
from tests.browser.lab import KERNELS, ROOT, SHOTS, running_lab

TAKEN = ("panel", "panel-dark", "timeline")
BIRDS = {"Count the ducks of the old pond": "31 ducks", "Count the geese of the new pond": "12 geese"}
FILES = """
from pathlib import Path
for bird in ('ducks', 'geese'):
    Path(f'{bird}.csv').write_text('day,seen\\n1,4\\n')
"""


def birds(request: Request) -> Step:
    """An agent that asks two others, and they look into files."""
    system, last = str(request.messages[0]["content"]), request.messages[-1]
    tools = sum(message["role"] == "tool" for message in request.messages)
    if "You are a subagent" in system:
        task = next(key for key in BIRDS if key in str(request.messages))
        if tools < (2 if "ducks" in task else 1):
            return late(call("read_file", {"path": f"{'ducks' if 'ducks' in task else 'geese'}.csv"}), 1.2)
        return late(say(f"I found {BIRDS[task]}."), 5.0)
    if last["role"] != "tool":
        first = "Two ponds, two counts. I look at what there is, then have each pond counted by somebody.\n\n"
        return calls([("python", {"code": FILES}), ("search_files", {"pattern": "seen", "glob": "*.csv"})], text=first)
    if tools < 3:
        tasks = [{"task": f"{task}, from its file.", "name": task} for task in BIRDS]
        return late(call("delegate", {"tasks": tasks}), 0.8)
    return say(
        "Thirty-one **ducks** and twelve **geese**.\n\n| pond | birds |\n|---|---|\n| old | 31 |\n| new | 12 |\n"
    )


def main() -> None:
    """Take them."""
    with tempfile.TemporaryDirectory() as place, running_lab(Path(place)) as lab, Server(birds) as server:
        kernel = KERNELS[0]
        cells = [kernel.py("import warnings"), "How many birds are at the two ponds?", "%hermes timeline"]
        book = lab.notebook("pictures", kernel, server.url, cells, max_iterations=40)
        lab.drive("pictures.mjs", book)
        folder = ROOT / "docs" / "pictures"
        folder.mkdir(exist_ok=True)
        for name in TAKEN:
            shutil.copy(SHOTS / book.stem / f"{name}.png", folder / f"{name}.png")
    print(f"{len(TAKEN)} pictures in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
