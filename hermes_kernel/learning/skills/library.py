"""The skills of a home, as they are at this moment: listed, found, read and marked. Nothing here changes a skill's files.

Folders ``skills/[category/]NAME`` of the home, and those that come with the package; of one name, the home's is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hermes_kernel.core.learning.skill import Skill
from hermes_kernel.learning.chronicle import Chronicle
from hermes_kernel.learning.skills.marks import Marks
from hermes_kernel.world.tools import Tool


class Library:
    """The skills under ``home/skills`` and in the folder `bundled`. Safe from any thread."""

    def __init__(self, home: Path, bundled: Path, chronicle: Chronicle) -> None:
        self.home = home
        self.bundled = bundled
        self.chronicle = chronicle
        self.marks = Marks(home / "skills")

    def all(self) -> Mapping[str, Skill]:
        """Every skill there is by name, in the order of names: offered, disabled, held, broken and archived ones."""
        raise NotImplementedError

    def get(self, name: str) -> Skill:
        """The skill `name`, as it is on disk now, whatever its state.

        Raises:
            NoSkill: there is none of that name; the text names those that come close.
        """
        raise NotImplementedError

    def read(self, name: str, file: str = "") -> str:
        """The text of the skill's SKILL.md, or of a file in its folder, as it is on disk now, for a model or a person.

        Raises:
            NoSkill: there is no such skill, or no such file in it.
            Withheld: it is held, broken, archived or disabled; the text says why and what to do.
        """
        raise NotImplementedError

    def index(self, room: int = 4_000) -> str:
        """What a system prompt says of the skills, in at most `room` characters however many there are; "" for none."""
        raise NotImplementedError

    def news(self, since: str) -> str:
        """What has come, gone and is described otherwise since `since`, an `index` of before; "" where nothing has.
        It is the same text until something changes again."""
        raise NotImplementedError

    def search(self, query: str, limit: int = 10) -> tuple[Skill, ...]:
        """The offered skills that the words of `query` are found in, as they are on disk now, the best first."""
        raise NotImplementedError

    def mark(self, name: str, mark: str, by: str, session: str = "", why: str = "") -> Skill:
        """Have the skill `name` be `mark` (one of `core.learning.skill.MARKS`), and record it. ``trusted`` is of every
        file in its folder with the content it has now.

        Raises:
            NoSkill: there is none of that name.
            SkillError: it is no mark, or cannot be written.
        """
        raise NotImplementedError

    def saw(self, name: str, file: str, digest: str, reader: str) -> None:
        """`reader`, a session's id, knows all of `file` ("" or ``SKILL.md``: that) as its SHA-256 `digest` has it: it read
        or wrote it."""
        raise NotImplementedError

    def seen(self, name: str, file: str = "", reader: str = "") -> str:
        """The SHA-256, in hex digits, of the content of `file` that `reader` has read from its beginning to its end; ""
        where it never has. It may be another by now: compare it with what is there."""
        raise NotImplementedError

    def tools(self, session: Callable[[], str], by: str = "model", chars: int = 50_000) -> tuple[Tool, ...]:
        """``skill_view`` and ``skills_search`` for a model that acts as `by` in `session`; an answer holds at most
        `chars` characters."""
        raise NotImplementedError
