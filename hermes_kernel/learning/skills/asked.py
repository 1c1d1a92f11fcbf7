"""What a person asks of the skills, in a notebook and in a shell alike: listed, read, marked, changed, decided on.

Each answer is a value for a program, and rows or text for whoever reads it. Everything in it is words, to be escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.figures import minute
from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.skill import Skill, SkillError, State
from hermes_kernel.core.learning.skill_index import harmless_line
from hermes_kernel.core.learning.skill_search import Text, found
from hermes_kernel.learning.proposals import NoProposal
from hermes_kernel.learning.skills.checking import suspicious
from hermes_kernel.learning.skills.disk import content, files, inside
from hermes_kernel.learning.skills.reading import read_main
from hermes_kernel.world.folder import named
from hermes_kernel.world.tools.alias import Alias

if TYPE_CHECKING:
    from hermes_kernel.learning.lore import Lore
    from hermes_kernel.learning.skills.workshop import Done

COLUMNS = ("skill", "state", "from", "description", "uses", "last use")
STATES = frozenset(map(str, State))
KINDS = frozenset({"", "all", "pinned", *STATES})
"""What can be asked for by one word; "" is all but the archived."""
MARKING = {
    "pin": "pinned", "unpin": "unpinned", "disable": "disabled", "enable": "enabled", "trust": "trusted",
}  # fmt: skip
CHANGING = ("archive", "restore", "uninstall", "undo")
LOOKING = ("history", "diff")
VERBS = (*MARKING, *CHANGING, *LOOKING)
CAP = 100  # characters of a description in a table
FLAGS = frozenset({"--anyway", "--replace"})


@dataclass(frozen=True, slots=True)
class Answer:
    """``value`` is plain data. There are ``rows`` under ``columns``, or ``text``; ``note`` stands below."""

    value: Any
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    text: str = ""
    note: str = ""


def listed(lore: Lore, words: str) -> Answer:
    """The skills that `words` ask for: a state, ``pinned``, ``all``, words in them; nothing: all but the archived."""
    said = words.strip()
    return searched(lore, *((said, "") if said in KINDS else ("", said)))


def searched(lore: Lore, kind: str, words: str) -> Answer:
    """The skills of one of `KINDS` in which `words` are found, the best first; without a word, all by their names."""
    chosen, uses = _chosen(lore.skills.all(), kind, words.strip()), lore.skills.uses()
    rows = tuple(_row(skill, *uses.get(skill.name, (0, 0.0))) for skill in chosen)
    value = [{**_plain(skill), "uses": _uses(uses, skill.name)} for skill in chosen]
    held = sum(skill.state is State.HELD for skill in chosen)
    notes = [] if rows else [_nothing(kind, words.strip())]
    if held:
        notes.append(f"{held} held: `skill NAME` shows why, `skill NAME trust` consents.")
    notes += [f"Waits: {line}" for line in _waiting(lore)]
    return Answer(value, COLUMNS if rows else (), rows, note="\n".join(notes))


def shown(lore: Lore, name: str) -> Answer:
    """All there is to see of one skill, whatever its state: a person may read what a model may not."""
    skill = lore.skills.get(name)
    read, uses = read_main(skill.folder), lore.skills.uses()
    found = sentences((*skill.findings, *_in_files(skill)))
    count, last = uses.get(skill.name, (0, 0.0))
    about = [
        ("state", f"{skill.state}{', pinned' if skill.pinned else ''}{', trusted' if skill.trusted else ''}"),
        ("why", skill.why),
        ("from", skill.origin),
        ("folder", Alias(lore.settings.home if lore.settings.spec else None).told(str(skill.folder))),
        ("files", ", ".join(harmless_line(each, 200) for each in files(skill.folder))),
        ("uses", f"{count:,}, the last {minute(last)}" if count else "none"),
        *(("suspicious", said) for said in found),
    ]
    more = {"files": files(skill.folder), "text": read.text, "suspicious": found}
    value = {**_plain(skill), "uses": _uses(uses, skill.name), **more}
    return Answer(value, ("", ""), tuple(row for row in about if row[1]), text=read.text)


def do(lore: Lore, name: str, verb: str, words: Sequence[str]) -> Answer:
    """Do `verb`, one of `VERBS`, with the skill `name`.

    Raises:
        SkillError: it cannot be done, or is nothing that can be done.
    """
    if verb in MARKING:
        none(verb, words)
        skill = lore.skills.mark(name, MARKING[verb], "person")
        row = _row(skill, *lore.skills.uses().get(skill.name, (0, 0.0)))
        found = sentences((*skill.findings, *_in_files(skill))) if verb == "trust" else []
        note = "\n".join([*filter(None, [skill.why]), *(f"consented to: {each}" for each in found)])
        return Answer(_plain(skill), COLUMNS, (row,), note=note)
    if verb in LOOKING:
        return DO[verb](lore, lore_name(lore, name), words)
    if verb not in CHANGING:
        raise SkillError(f"A skill takes {', '.join(VERBS)}, not {harmless_line(verb, 40)!r}.")
    if verb == "undo":
        return done(lore.workshop.undo(name, number(words), by="person"))
    none(verb, words)
    change: Mapping[str, Callable[..., Done]] = {
        "archive": lore.workshop.archive, "restore": lore.workshop.restore, "uninstall": lore.workshop.uninstall,
    }  # fmt: skip
    return done(change[verb](name, by="person"))


def install(lore: Lore, words: Sequence[str]) -> Answer:
    """Install the skill in a folder or a zip file: ``PATH [--anyway] [--replace]``.

    Raises:
        SkillError: it cannot be; also where something in it is suspicious and the person has not said ``--anyway``.
    """
    paths = [word for word in words if word not in FLAGS]
    if len(paths) != 1 or not paths[0].strip():
        raise SkillError("skills install takes the PATH of one folder or .zip file, and --anyway or --replace.")
    path = named(paths[0])
    return done(lore.workshop.install(path, anyway="--anyway" in words, replace="--replace" in words))


def accept(lore: Lore, identity: str) -> Answer:
    """Do what was proposed; raises `SkillError`."""
    return done(lore.workshop.accept(_proposal(lore, identity)))


def reject(lore: Lore, identity: str) -> Answer:
    """Do not do what was proposed; raises `SkillError`."""
    proposal = _proposal(lore, identity)
    lore.proposals.remove(proposal)
    return Answer(proposal.id, note=f"{proposal.id} will not be done.")


def done(what: Done) -> Answer:
    """What came of a change."""
    waits = what.proposal.id if what.proposal else ""
    value = {"said": what.text, "diff": what.diff, "proposal": waits, "suspicious": sentences(what.findings)}
    note = "\n".join((what.text, *(f"suspicious: {each}" for each in sentences(what.findings))))
    return Answer(value, text=what.diff, note=note)


def sentences(findings: Sequence[Finding]) -> list[str]:
    """Findings as a person reads them."""
    return [_sentence(each) for each in findings]


def refused(error: SkillError, anyway: str) -> str:
    """Why something cannot be done; with `anyway`, what to do about it, where all it takes is consent."""
    found = sentences(getattr(error, "findings", ()))
    return "\n".join([str(error), *(f"- {each}" for each in found), *([anyway] if found else [])])


def none(verb: str, words: Sequence[str]) -> None:
    """Refuse what stands behind a verb that takes nothing more."""
    if words:
        raise SkillError(f"{verb} takes nothing more, not {harmless_line(' '.join(words), 60)!r}.")


def number(words: Sequence[str]) -> int:
    """The number of a change; 0 for none."""
    if len(words) > 1 or not all(word.isdecimal() and int(word) for word in words):
        raise SkillError(
            f"It takes the number of a change, as `history` shows it, not {harmless_line(' '.join(words), 60)!r}."
        )
    return int(words[0]) if words else 0


def lore_name(lore: Lore, name: str) -> str:
    """The name by which the history knows a skill: of one that is gone as well."""
    return name if lore.workshop.changes(name) else lore.skills.get(name).name


def _history(lore: Lore, name: str, words: Sequence[str]) -> Answer:
    none("history", words)
    past = lore.workshop.changes(name)
    rows = tuple((str(n), minute(t), fact.by, fact.action, fact.file, fact.why) for n, t, fact in past)
    value = [{"n": n, "t": t, "by": f.by, "action": f.action, "file": f.file, "why": f.why} for n, t, f in past]
    note = "`undo N` takes one back, `diff N` shows it." if rows else "Nothing has been changed here."
    return Answer(value, ("change", "when", "by", "what", "file", "why") if rows else (), rows, note=note)


def _diff(lore: Lore, name: str, words: Sequence[str]) -> Answer:
    wanted = number(words)
    past = lore.workshop.changes(name)
    fact = next((fact for n, _, fact in reversed(past) if wanted in (0, n)), None)
    if fact is None:
        raise SkillError(
            f"{harmless_line(name, 80)} has {len(past)} changes on record" + (f", no number {wanted}." if past else ".")
        )
    text = lore.history.diff(fact.before, fact.after)
    return Answer({"diff": text}, text=text, note="" if text else "It changed no text.")


DO: dict[str, Callable[[Lore, str, Sequence[str]], Answer]] = {"history": _history, "diff": _diff}


def _chosen(skills: Mapping[str, Skill], kind: str, words: str) -> list[Skill]:
    there = [skill for skill in skills.values() if _is(skill, kind)]
    if not words:
        return there
    return [skills[name] for name in found(words, (Text(each.name, each.description, each.tags, "") for each in there))]


def _is(skill: Skill, kind: str) -> bool:
    match kind:
        case "all":
            return True
        case "":
            return skill.state is not State.ARCHIVED
        case "pinned":
            return skill.pinned
    return str(skill.state) == kind


def _nothing(kind: str, words: str) -> str:
    if words and kind not in ("", "all"):
        return f"No skill that is {kind} has these words."
    if words:
        return "No skill has these words. `%hermes skills all` lists those there are, the archived too."
    return "There are no skills yet." if kind in ("", "all") else f"No skill is {kind}."


def _row(skill: Skill, count: int, last: float) -> tuple[Any, ...]:
    state = f"{skill.state}, pinned" if skill.pinned else str(skill.state)
    said = harmless_line(skill.why or skill.description, CAP)
    return harmless_line(skill.name, 128), state, skill.origin, said, count, minute(last) if count else ""


def _plain(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name, "state": str(skill.state), "origin": skill.origin, "pinned": skill.pinned,
        "trusted": skill.trusted, "description": skill.description, "category": skill.category, "folder": skill.folder,
        "tags": list(skill.tags), "why": skill.why, "suspicious": sentences(skill.findings),
    }  # fmt: skip


def _in_files(skill: Skill) -> Iterator[Finding]:
    """What is suspicious in the texts of a skill's other files."""
    held: dict[str, bytes] = {}
    for name in files(skill.folder) if skill.origin != "bundled" else ():
        with suppress(SkillError):
            held[name] = content(inside(skill.folder, name))
    return (each for found in suspicious(held).values() for each in found if each.kind != "script")


def _uses(uses: Mapping[str, tuple[int, float]], name: str) -> dict[str, Any]:
    count, last = uses.get(name, (0, 0.0))
    return {"count": count, "last": last or None}


def _sentence(each: Finding) -> str:
    where = f" (line {each.line})" if each.line else ""
    excerpt = harmless_line(each.excerpt, 120)
    return f"{each.what}{where}" + (f": {excerpt}" if excerpt else "")


def _waiting(lore: Lore) -> Iterator[str]:
    for each in lore.proposals.all("skill"):
        what = " ".join(str(each.what.get(key, "")) for key in ("action", "name") if each.what.get(key))
        why = f", {harmless_line(each.why, CAP)}" if each.why else ""
        yield f"{each.id}: {harmless_line(what, CAP)}, by {each.by}{why}. `skills accept ID` or `reject ID` decides."


def _proposal(lore: Lore, identity: str) -> Any:
    try:
        proposal = lore.proposals.get(identity)
    except NoProposal as error:
        raise SkillError(str(error)) from None
    if proposal.kind != "skill":
        raise SkillError(f"{proposal.id} is about {proposal.kind}: decide on it with `{proposal.kind}`.")
    return proposal
