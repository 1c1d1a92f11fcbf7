"""What a person is asked, as a value: whoever shows it, a button and a numbered line say the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """``meanings`` say what each of ``choices`` covers, ``default`` what happens without an answer, which is waited for
    ``seconds`` (0: for ever). ``tool`` wants to be run, or asks; ``given`` is its input as it is shown, with nothing in
    it that could hide. Where it is ``free``, other words are an answer too."""

    text: str
    choices: tuple[str, ...] = ()
    default: str = ""
    seconds: float = 0
    tool: str = ""
    given: str = ""
    meanings: tuple[str, ...] = ()
    free: bool = False

    @property
    def whole(self) -> str:
        """The question and what it is about, in one text."""
        return f"{self.text}\n{self.given}" if self.given else self.text
