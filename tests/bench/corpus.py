"""Conversations as a busy person would have had them: seven languages, real code, tools' output, words by Zipf's law.

The same from a seed on any one version of Python; nothing but the standard library is read, and no network.
"""

from __future__ import annotations

import itertools
import pydoc_data.topics
import re
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from hermes_kernel.core.events import Asked, Final, Kept, Observed, Opened, Outcome, Replied, Started, Titled
from hermes_kernel.core.messages import ToolCall, Usage
from tests.bench import wordlists

PROMPTS = 5  # in a session: a prompt, a reply with a call, its result and an answer each
MESSAGES = 4 * PROMPTS
MODULES = 160  # of the standard library, in order of name
RARE = 0.02  # of words in prose: numbers, identifiers, paths, names of tickets
SHARES = {"en": 55, "vi": 10, "zh": 10, "ja": 7, "de": 7, "cs": 6, "ko": 5}
NOTEBOOKS = ("sales.ipynb", "churn.ipynb", "notes/weekly.ipynb", "models/forecast.ipynb", "scratch.ipynb")
PLAIN = wordlists.EN.split()[60:]  # words that names are made of
MODELS = ("qwen3:8b", "some-model", "other-model-large")


@dataclass(frozen=True, slots=True)
class Language:
    """Words and how often each is said, added up; ``joint`` stands between two, ``stop`` ends a sentence."""

    words: tuple[str, ...]
    sums: tuple[float, ...]
    joint: str = " "
    stop: str = ". "

    def said(self, random: Random, count: int) -> list[str]:
        return random.choices(self.words, cum_weights=self.sums, k=count)


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its id and its facts, in order."""

    id: str
    facts: tuple[Kept, ...]


def sessions(messages: int, seed: int = 1) -> Iterator[Session]:
    """Sessions with ``messages`` messages in all, to the next whole session. Titles are not counted."""
    return (session(number, seed) for number in range(-(-messages // MESSAGES)))


def session(number: int, seed: int = 1) -> Session:
    """One of them, by its place."""
    return _session(number, Random(f"{seed}-{number}"))


def prose(random: Random, language: str, words: int) -> str:
    """Sentences of so many words."""
    speech = languages()[language]
    said = speech.said(random, words)
    for _ in range(int(words * RARE + random.random())):
        said[random.randrange(words)] = _rare(random)  # glued to its neighbours where there are no spaces
    ends = list(itertools.accumulate(random.choices((6, 9, 12, 17), k=1 + words // 6)))
    sentences = [said[start:end] for start, end in itertools.pairwise((0, *ends)) if start < words]
    return "".join(speech.joint.join(each) + speech.stop for each in sentences).strip()


@cache
def languages() -> dict[str, Language]:
    ko = [word + tail for word in wordlists.KO.split() for tail in wordlists.TAILS["ko"].split()]
    return {
        "en": _language([*wordlists.EN.split(), *_english()]),
        "vi": _language([*wordlists.VI.split(), *_built("vi")]),
        "cs": _language([*wordlists.CS.split(), *_built("cs")]),
        "de": _language([*wordlists.DE.split(), *_built("de")]),
        "zh": _language([*wordlists.ZH.split(), *_paired(wordlists.ZH.split())], "", "。"),
        "ja": _language([*wordlists.JA.split(), *_paired(wordlists.JA.split()[40:])], "", "。"),
        "ko": _language([*wordlists.KO.split(), *ko]),
    }


def _language(words: list[str], joint: str = " ", stop: str = ". ") -> Language:
    once = tuple(dict.fromkeys(words))
    weights = (1 / (rank + 2.7) for rank in range(1, len(once) + 1))  # Mandelbrot's form of the law
    return Language(once, tuple(itertools.accumulate(weights)), joint, stop)


def _english() -> list[str]:
    """What the manual and the library say, the commoner first."""
    told = " ".join(pydoc_data.topics.topics.values()) + " ".join(map("\n".join, library().values()))
    return [word for word, _ in Counter(re.findall(r"(?<![\w])[a-z]{3,14}(?![\w])", told)).most_common()]


def _built(language: str) -> list[str]:
    words = [stem + tail for stem in wordlists.STEMS[language].split() for tail in wordlists.TAILS[language].split()]
    Random(language).shuffle(words)
    return words


def _paired(words: list[str]) -> list[str]:
    """Longer words of the characters of these."""
    random, characters = Random(len(words)), sorted({each for word in words for each in word})
    return ["".join(random.choices(characters, k=random.choice((2, 2, 3)))) for _ in range(6000)]


@cache
def library() -> dict[str, list[str]]:
    """The lines of the standard library's modules."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("[a-z]*.py"))[:MODULES]
    return {path.name: path.read_text("utf-8", "replace").splitlines() for path in paths}


def _session(number: int, random: Random) -> Session:
    (language,) = random.choices(tuple(SHARES), SHARES.values())
    name = f"s{number:07d}-{random.getrandbits(32):08x}"
    opened = Opened(name, "", random.choice(MODELS), notebook=random.choice(NOTEBOOKS))
    turns = [_turn(random, language, opened.model, f"c{at}") for at in range(PROMPTS)]
    titled = (Titled(prose(random, language, 5)),) if random.random() < 0.3 else ()
    return Session(name, (opened, *itertools.chain(*turns), *titled))


def _turn(random: Random, language: str, model: str, call_id: str) -> tuple[Kept, ...]:
    tool, make = random.choice(TOOLS)
    arguments, result = make(random)
    answer = prose(random, language, _length(random, 80))
    usage = Usage(1, random.randrange(500, 9000), random.randrange(20, 900))
    said = prose(random, language, _length(random, 14)) if random.random() < 0.5 else ""
    return (
        Asked(prose(random, language, _length(random, 32))),
        Replied(said, (ToolCall(call_id, tool, arguments),), usage=usage, model=model, endpoint="http://x/v1"),
        Started(call_id),
        Observed(call_id, result, ok=random.random() > 0.1, seconds=random.random()),
        Replied(answer, usage=usage, model=model, endpoint="http://x/v1", seconds=random.random() * 9),
        Final(Outcome.COMPLETED, answer),
    )


def _length(random: Random, middle: int) -> int:
    return max(2, min(400, int(random.lognormvariate(0, 0.7) * middle)))


def _rare(random: Random) -> str:
    return random.choice(RARITIES)(random)


def _path(random: Random) -> str:
    folder, name = random.choice(PLAIN), random.choice(PLAIN)
    return f"/srv/ada/{folder}/{name}_{random.randrange(999)}.{random.choice(('csv', 'py', 'parquet', 'log'))}"


def _identifier(random: Random) -> str:
    return "_".join(random.choice(PLAIN) for _ in range(random.choice((2, 2, 3))))


RARITIES: tuple[Callable[[Random], str], ...] = (
    lambda random: str(random.randrange(100_000)),
    lambda random: f"{random.random() * 1000:.2f}",
    lambda random: f"TICKET-{random.randrange(40_000)}",
    lambda random: f"{random.getrandbits(40):010x}",
    lambda random: random.choice(languages()["en"].words),
    _identifier,
    _path,
)


def _code(random: Random) -> tuple[str, str]:
    name = random.choice(tuple(library()))
    lines = library()[name]
    start = random.randrange(max(1, len(lines) - 12))
    excerpt = "\n".join(lines[start : start + random.randrange(12, 44)])[:3000]
    return f'{{"path": "lib/{name}", "start": {start}}}', excerpt


def _listing(random: Random) -> tuple[str, str]:
    lines = [
        f"-rw-r--r-- 1 ada ada {random.randrange(10**6):>8} {_path(random)}" for _ in range(random.randrange(4, 24))
    ]
    return f'{{"command": "ls -l {_path(random)}"}}', "\n".join(lines)


def _frame(random: Random) -> tuple[str, str]:
    columns = [_identifier(random) for _ in range(3)]
    rows = [
        f"{at}  " + "  ".join(f"{random.gauss(0, 99):.3f}" for _ in columns) for at in range(random.randrange(5, 20))
    ]
    return f'{{"code": "df[{columns}].describe()"}}', "\n".join(["   ".join(columns), *rows])


def _traceback(random: Random) -> tuple[str, str]:
    frames = [f'  File "{_path(random)}", line {random.randrange(900)}, in {_identifier(random)}' for _ in range(4)]
    name = _identifier(random)
    return f'{{"code": "{name}()"}}', "\n".join(
        ["Traceback (most recent call last):", *frames, f"KeyError: '{name}' not found: {prose(random, 'en', 12)}"]
    )


TOOLS: tuple[tuple[str, Callable[[Random], tuple[str, str]]], ...] = (
    ("read_file", _code),
    ("python", _frame),
    ("python", _traceback),
    ("terminal", _listing),
)
