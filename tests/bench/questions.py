"""What people look for, of each kind, taken from the corpus itself: the same question for us and for SQLite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from hermes_kernel.core.search.found import Passage
from tests.bench import corpus
from tests.bench.lite import Asked
from tests.bench.loading import BEGIN, SPAN, said

SAMPLE = 1000  # sessions that are looked at for words
EACH = 30  # questions of a kind
COMMON, RARE = 24, 3  # a common word is among so many, a rare one in no more messages of the sample
MIDDLE = datetime.fromtimestamp(BEGIN + SPAN / 2, UTC).replace(hour=0, minute=0, second=0)

WORD = re.compile(r"(?<![\w./'-])[a-z]{4,12}(?![\w/'-]|\.\w)")
RUN = re.compile(r"(?<![\w./'-])[a-z]{2,12}(?: [a-z]{2,12}){3}(?![\w/'-]|\.\w)")
PAIR = re.compile(r"(?<![\w./'-])([a-z]{4,12}) (?=([a-z]{4,12})(?![\w/'-]|\.\w))")
IDENTIFIER = re.compile(r"(?<![\w./-])[a-z]{3,}_[a-z]{3,}(?![\w./-])")
PATH = re.compile(r"/srv/ada/[a-z]+/[a-z]+_\d+\.[a-z]+")
HAN = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]{4,}")
VIETNAMESE = re.compile(r"(?<![\w./-])[^\W\d_A-Z]+ [^\W\d_A-Z]*[ạảãàáâậấăếềệểốồộớờợứừựịọ]\w* [^\W\d_A-Z]+(?![\w./-])")


@dataclass(frozen=True, slots=True)
class Kind:
    """Questions of one kind, each as we take it and as SQLite does."""

    name: str
    questions: tuple[tuple[str, Asked], ...]


class Sample:
    """Words, pairs, paths and the like that stand in the corpus, and how common they are."""

    def __init__(self, messages: int, random: Random) -> None:
        count = -(-messages // corpus.MESSAGES)
        step = max(1, count // SAMPLE)
        self.passages = [each for at in range(0, count, step) for each in said(corpus.session(at), BEGIN)]
        held = Counter(word for each in self.passages for word in set(WORD.findall(each.text)))
        by_rank = [word for word, _ in held.most_common()]
        self.common = by_rank[:COMMON]
        self.rare = [word for word in by_rank if held[word] <= RARE]
        self._held, self._random = held, random
        random.shuffle(self.rare)

    def found(self, pattern: re.Pattern[str]) -> list[str]:
        """What matches, in no order, each once."""
        every = dict.fromkeys(found for each in self.passages for found in _matches(pattern, each))
        return self._random.sample(list(every), len(every))

    def rare_pairs(self) -> list[str]:
        pairs = (found for each in self.passages for found in PAIR.findall(each.text))
        rare = [f"{a} {b}" for a, b in pairs if max(self._held[a], self._held[b]) <= len(self.passages) / 400]
        return self._random.sample(rare, len(rare))

    def common_words(self, count: int) -> list[str]:
        return self._random.sample(self.common, count)


def kinds(messages: int) -> Iterator[Kind]:
    """Every kind, with its questions."""
    random = Random(7)
    sample = Sample(messages, random)
    for name, make in KINDS.items():
        questions = dict(zip(range(EACH), make(sample, random), strict=False))
        assert questions, name
        yield Kind(name, tuple(questions.values()))


def _matches(pattern: re.Pattern[str], passage: Passage) -> list[str]:
    return pattern.findall(passage.text)


Made = Iterator[tuple[str, Asked]]


def _quoted(text: str) -> str:
    return f'"{text}"'


def _same(texts: list[str]) -> Made:
    """A text without signs: we take it as it is, SQLite wants it quoted."""
    return ((text, Asked(_quoted(text))) for text in texts)


def _phrases(texts: list[str]) -> Made:
    return ((_quoted(text), Asked(_quoted(text))) for text in texts)


def _joined(sample: Sample, count: int, joint: str) -> Made:
    for _ in range(EACH):
        words = sample.common_words(count)
        yield joint.join(words), Asked(joint.join(map(_quoted, words)))


def _common_phrases(sample: Sample, random: Random) -> Made:
    runs = Counter(
        pair
        for each in sample.passages
        for pair in re.findall(r"(?<![\w.])([a-z]{2,4} [a-z]{2,4})(?![\w.])", each.text)
    )
    return _phrases([pair for pair, _ in runs.most_common(EACH)])


def _prefixes(length: int) -> Callable[[Sample, Random], Made]:
    def made(sample: Sample, random: Random) -> Made:
        begun = dict.fromkeys(word[:length] for word in random.sample(sample.rare, min(len(sample.rare), 400)))
        return ((f"{each}*", Asked(f"{_quoted(each)}*")) for each in begun)

    return made


def _characters(length: int) -> Callable[[Sample, Random], Made]:
    table = "trigrams" if length > 2 else "scan"

    def made(sample: Sample, random: Random) -> Made:
        for run in sample.found(HAN):
            start = random.randrange(len(run) - length + 1)
            text = run[start : start + length]
            yield text, Asked(_quoted(text) if length > 2 else text, table)

    return made


def _filtered(sample: Sample, random: Random) -> Made:
    for word in sample.common:
        yield f"{word} role:user after:{MIDDLE:%Y-%m-%d}", Asked(_quoted(word), role="user", after=MIDDLE.timestamp())


def _without(sample: Sample, random: Random) -> Made:
    for _ in range(EACH):
        word, other = sample.common_words(2)
        yield f"{word} -{other}", Asked(f"{_quoted(word)} NOT {_quoted(other)}")


KINDS: dict[str, Callable[[Sample, Random], Made]] = {
    "rare word": lambda sample, _: _same(sample.rare),
    "common word": lambda sample, _: _same(sample.common),
    "two common words": lambda sample, _: _joined(sample, 2, " "),
    "3 common words, OR": lambda sample, _: _joined(sample, 3, " OR "),
    "phrase of rare words": lambda sample, _: _phrases(sample.rare_pairs()),
    "phrase of common words": _common_phrases,
    "phrase of 4 words": lambda sample, _: _phrases(sample.found(RUN)),
    "prefix, 2 characters": _prefixes(2),
    "prefix, 3 characters": _prefixes(3),
    "prefix, 4 characters": _prefixes(4),
    "CJK, 1 character": _characters(1),
    "CJK, 2 characters": _characters(2),
    "CJK, 4 characters": _characters(4),
    "Vietnamese phrase": lambda sample, _: _phrases(sample.found(VIETNAMESE)),
    "common word, role, date": _filtered,
    "common word, -not": _without,
    "identifier, whole": lambda sample, _: _same(sample.found(IDENTIFIER)),
    "identifier, a part": lambda sample, _: _same([each.split("_")[0] for each in sample.found(IDENTIFIER)]),
    "path": lambda sample, _: _same(sample.found(PATH)),
}
