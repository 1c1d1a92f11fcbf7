"""Who decides about a risky call, and for how long. Only a person's answer or a setting can allow one: nothing a model
writes or a tool returns gets here. A guard against accidents, not a sandbox."""

from __future__ import annotations

import json
import os
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from hermes_kernel.core.events import Approved
from hermes_kernel.core.question import Question
from hermes_kernel.world.ports import Person
from hermes_kernel.world.store.disk import make, plain_in
from hermes_kernel.world.tools.calls import Ready
from hermes_kernel.world.tools.places import APPROVALS
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.speaking import ask_person, the_floor

CHOICES = ("once", "this session", "always", "no")
SHOWN = 8_000
MOST = 2**20  # bytes of what is allowed for good; a rule has some forty
SCOPES = {"once": "once", "this session": "session", "always": "always"}


@dataclass(slots=True)
class Approvals:
    """The decisions of one session, and those for good (``$HERMES_HOME/approvals.json``, by rule). ``policy`` is ask,
    allow or deny; ``who`` is the subagent that asks, empty for the agent itself."""

    policy: str
    home: Path
    person: Person | None
    session: set[str] = field(default_factory=set)
    who: str = ""

    async def decide(self, ready: Ready) -> Approved:
        """What was decided about a call that has a risk. Asks the person where no earlier answer or setting decides."""
        risk = ready.risk
        if risk is None:
            return Approved(ready.call.id, True, "rule")
        if decided := self._decided(ready, risk):
            return decided
        async with the_floor():
            return self._decided(ready, risk) or await self._asked(ready, risk)

    def _decided(self, ready: Ready, risk: Risk) -> Approved | None:
        """What a setting or an earlier answer says, which may have been given to another agent a moment ago."""
        if risk.forbidden or self.policy == "deny":
            return Approved(ready.call.id, False, "rule")
        if self.policy == "allow":
            return Approved(ready.call.id, True, "rule")
        if self.session.issuperset(risk.rules):
            return Approved(ready.call.id, True, "rule", "session")
        if (self.session | self.always()).issuperset(risk.rules):
            return Approved(ready.call.id, True, "rule", "always")
        return None

    async def _asked(self, ready: Ready, risk: Risk) -> Approved:
        if self.person is None or not self.person.present:
            return Approved(ready.call.id, False, "headless")
        answer = await ask_person(self.person, question(ready, self.who))
        if answer is None:
            return Approved(ready.call.id, False, "silence")
        scope = SCOPES.get(answer.strip().lower(), "")
        self._remember(risk.rules, scope)
        return Approved(ready.call.id, bool(scope), "person", scope or "once")

    def always(self) -> frozenset[str]:
        """The rules allowed for good. A damaged or foreign file allows nothing."""
        rules = plain_in(self.home / APPROVALS, MOST).get("allowed")
        return frozenset(rule for rule in rules if isinstance(rule, str)) if isinstance(rules, list) else frozenset()

    def _remember(self, rules: tuple[str, ...], scope: str) -> None:
        if scope in ("session", "always"):
            self.session.update(rules)
        if scope == "always":
            self._keep(sorted(self.always().union(rules)))

    def _keep(self, rules: list[str]) -> None:
        aside = self.home / f".{APPROVALS}.{os.getpid()}"
        try:
            make(self.home)
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({"allowed": rules}, file, indent=1)
            aside.replace(self.home / APPROVALS)
        except OSError:
            aside.unlink(missing_ok=True)  # a full or read-only home: the answer holds for this session


def question(ready: Ready, who: str = "") -> Question:
    """What the person is asked: who asks, which tool, why, and all its arguments, with nothing that could hide."""
    lines = "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in ready.arguments.items()
    )
    asking = f"Subagent {json.dumps(visible(who), ensure_ascii=False)}: " if who else ""
    why, rules = (ready.risk.why, ready.risk.rules) if ready.risk else ("", ())
    kind = f"every later call of this kind ({visible(', '.join(rules))})"
    return Question(
        f"{asking}{ready.tool.name} needs your word, because {visible(why)}. Allow it?",
        CHOICES,
        default="no",
        tool=ready.tool.name,
        given=bounded(lines),
        meanings=("this call", f"{kind} in this session", f"{kind}, now and in all sessions", "it is not run"),
    )


def bounded(text: str) -> str:
    """`text` as a person is shown it, all of it visible; what is left out of a long one is said."""
    shown = visible(text)
    more = f"\n[{len(shown) - SHOWN:,} more characters, not shown]" if len(shown) > SHOWN else ""
    return shown[:SHOWN] + more


def refusal(approved: Approved, ready: Ready) -> str:
    """What the model is told when the answer is no."""
    why = ready.risk.why if ready.risk else ""
    if ready.risk and ready.risk.forbidden:
        return f"Not run: {why}. This is never allowed. Do not try it in another form."
    by = {
        "person": "the person said no",
        "headless": "nobody is there to allow it",
        "silence": "nobody answered when asked to allow it",
        "rule": "the settings do not allow it",
    }
    return (
        f"Not run: {why}, and {by[approved.by]}. Do not try it in another form; find a safer way, or say what you need."
    )


def visible(text: str) -> str:
    """`text` with control and direction-changing characters and foreign ends of lines written out, so that what is
    shown is what is run."""
    hidden = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in hidden else f"\\u{ord(c):04x}" for c in text)
