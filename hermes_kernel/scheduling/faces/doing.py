"""What was said of jobs, done: each word of ``verbs.VERBS`` through `Jobs`, and what came of it as words."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from hermes_kernel.core.planned import SHORT, RunEnded
from hermes_kernel.core.planned import Told as Reached
from hermes_kernel.core.schedule import grammar
from hermes_kernel.core.schedule.instants import upcoming
from hermes_kernel.core.schedule.job import NONE, NOTEBOOK
from hermes_kernel.core.schedule.rows import RUNNING, WAITING, RunRow
from hermes_kernel.core.schedule.run_names import means, short
from hermes_kernel.core.schedule.saying import moment, sentence
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.book import APART
from hermes_kernel.scheduling.faces import telling
from hermes_kernel.scheduling.faces.telling import Told
from hermes_kernel.scheduling.faces.verbs import notebook_in, wishes
from hermes_kernel.scheduling.in_run import as_a_run_may
from hermes_kernel.scheduling.posts import QUEUE, SCHEDULER, Post
from hermes_kernel.scheduling.ticks import start_tick, tick_goes_on
from hermes_kernel.scheduling.times import timed
from hermes_kernel.scheduling.watch import watcher
from hermes_kernel.world.blocking import Blocking
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import InUse

if TYPE_CHECKING:
    from hermes_kernel.core.schedule.job import Job
    from hermes_kernel.scheduling.delivery import Messenger
    from hermes_kernel.scheduling.jobs import Jobs

NO_TARGETS = "No target is set. `schedule targets add NAME URL` sets one; none, notebook, desktop, file:PATH are there."
RECENT = 5  # runs that are shown of a job


@dataclass(frozen=True, slots=True)
class Hands:
    """What a face brings: the jobs, the store they are kept in, where reports can go. ``watches``: this very process
    sees to it that jobs run, or will in a moment."""

    jobs: Jobs
    store: Archive
    messenger: Messenger
    watches: bool = False


def do(hands: Hands, options: Namespace) -> Told:
    """Do what `options` say, and tell it.

    Raises:
        HermesError: it cannot be done; one or two lines say why, and what can.
        StoreError: the store cannot be used.
    """
    return DO[options.verb](hands, options)


def coming(options: Namespace, now: float, zone: str) -> Told:
    """What a time means, in `zone` unless it names one, and when it comes next. Needs no store and makes nothing.

    Raises:
        HermesError: it is no time.
    """
    zone = options.zone or zone
    since = _since(options.since, zone) if options.since else now
    said = timed(options.when, since, zone)
    times = upcoming(said, now=since, count=options.n)
    plain = {
        "schedule": grammar.text(said.when),
        "zone": said.zone,
        "sentence": sentence(said),
        "next": [telling.iso(t) for t in times],
    }
    rows = tuple((moment(t, said.zone), str(telling.iso(t))) for t in times)
    return Told(("next", "UTC"), rows, note=f"{_capital(sentence(said))}.", value=times, plain=plain)


def _since(text: str, zone: str) -> float:
    try:
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone))).timestamp()
    except (ValueError, OverflowError, OSError, KeyError):
        said = brief(repr(text), 40)
        raise HermesError(
            f"--from takes an ISO date or time, such as 2027-03-01 or 2027-03-01T12:00Z, not {said}."
        ) from None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- jobs


def _add(hands: Hands, options: Namespace) -> Told:
    wished = wishes(options)
    if not wished.get("notebook") and notebook_in(options.prompt):
        wished |= {"notebook": options.prompt, "prompt": ""}
    return _made(hands, hands.jobs.add(wished.pop("when"), wished.pop("prompt"), **wished))


def _made(hands: Hands, job: Job) -> Told:
    return telling.made(job, hands.jobs.ahead(job), _watched(hands))


def _watched(hands: Hands) -> str:
    """Who sees to it that jobs run, where a person has to know."""
    home = hands.jobs.home
    if Post(home, SCHEDULER).holder():
        return ""
    return telling.WATCHED if hands.watches or watcher(home) else telling.UNWATCHED


def _change(hands: Hands, options: Namespace) -> Told:
    changes = wishes(options)
    if not changes:
        raise HermesError("change takes what is to be different, such as --when 'every friday 17:00' or --prompt TEXT.")
    return _made(hands, hands.jobs.change(options.which, **changes))


def _list(hands: Hands, _: Namespace) -> Told:
    return telling.listed(hands.jobs.list())


def _show(hands: Hands, options: Namespace) -> Told:
    job = hands.jobs.find(options.which)
    standing = next(each for each in hands.jobs.list() if each.job.id == job.id)
    return telling.shown(standing, hands.jobs.runs(job.id, RECENT))


def _pause(hands: Hands, options: Namespace) -> Told:
    job = hands.jobs.pause(options.which)
    return _said(f"{job.name} is paused: nothing of it is due until it is resumed.", job)


def _resume(hands: Hands, options: Namespace) -> Told:
    return _made(hands, hands.jobs.resume(options.which))


def _remove(hands: Hands, options: Namespace) -> Told:
    job = hands.jobs.remove(options.which)
    return _said(f"{job.name} is removed. What it did stays in `schedule runs`, its notebooks where they are.", job)


def _said(text: str, job: Job) -> Told:
    return Told(note=text, value=job, plain=telling.job_plain(job))


# --- runs


def _run(hands: Hands, options: Namespace) -> Told:
    job = hands.jobs.find(options.which)
    run = hands.jobs.run(job.id)
    _looked_at(hands.jobs.home)
    name = short(run)
    note = (
        f"{job.name} runs now, as {name}. `schedule runs {name}` shows how it goes, `schedule stop {job.name}` ends it."
    )
    return Told(note=note, value=run, plain={"job": job.id, "run": run})


def _looked_at(home: Path) -> None:
    """Have somebody look at the jobs of `home` now: who watches has been rung for; where nobody does, a tick is begun.

    Raises:
        HermesError: no process can be had.
    """
    if watcher(home):
        return
    try:
        start_tick(home)
    except OSError as error:
        said = f"no process could be started ({error.strerror or error})"
        raise HermesError(f"The run is asked for, but {said}: `hermes-kernel tick` does it.") from None


def seen_to(home: Path) -> bool:
    """Somebody looks at the jobs of `home`: who watches, a tick that was begun here, or one that waits for a slot."""
    return tick_goes_on() or bool(watcher(home) or Post(home, QUEUE).holder())


def ended(hands: Hands, run: str) -> RunRow | None:
    """How the run ended; None while it goes on, or its report is on its way.

    Raises:
        HermesError: it does not go on, and nobody is there who would go on with it.
    """
    job = hands.jobs.runs(run, 1)[0].job
    there = seen_to(hands.jobs.home) or _acted_on(hands.store, job)  # before it is looked at: who ends it may be gone
    row = hands.jobs.runs(run, 1)[0]
    if row.outcome not in (RUNNING, WAITING):
        return None if _is_owed(hands, row) and _acted_on(hands.store, job) else row
    if not there:
        raise HermesError(f"{run} is {row.outcome}, and nobody runs it: `hermes-kernel doctor` says more.")
    return None


def _acted_on(store: Archive, job: str) -> bool:
    """A tick that somebody else began, from cron or another terminal, is at it."""
    try:
        store.claim(job).close()
    except InUse:
        return True
    return False


def _is_owed(hands: Hands, row: RunRow) -> bool:
    """There is a target that nobody has tried to tell of it yet."""
    if row.outcome == "stopped" or (row.silent and row.outcome == "ran"):
        return False
    job = next((each.job for each in hands.jobs.list() if each.job.id == row.job), None)
    return job is not None and row.told + row.untold < len({*job.deliver} - {NONE, NOTEBOOK})


def _stop(hands: Hands, options: Namespace) -> Told:
    run = hands.jobs.stop(options.which)
    return Told(
        note=f"{short(run)} is told to stop. `schedule runs {short(run)}` shows how it ended.",
        value=run,
        plain={"run": run},
    )


def _runs(hands: Hands, options: Namespace) -> Told:
    rows = hands.jobs.runs(options.which, options.n)
    if len(options.which) > SHORT and len(rows) == 1 and means(options.which, rows[0].run):
        return about(hands.store, rows[0], hands.jobs.zone())
    return telling.ran(rows, hands.jobs.zone())


def about(store: Archive, row: RunRow, zone: str) -> Told:
    """All about one run: its report, its notebook, who was told.

    Raises:
        StoreError: the store cannot be read.
    """
    report, told = "", dict[str, str]()
    for each in store.learnt((RunEnded, Reached), row.due - APART):
        match each.fact:
            case RunEnded(run=run, text=text) if run == row.run:
                report = report or text
            case Reached(run=run, target=target, failed=failed) if run == row.run:
                told[target] = failed
    return telling.run(row, report, told.items(), zone)


# --- targets


def _targets(hands: Hands, options: Namespace) -> Told:
    targets, name = hands.messenger.targets, options.name
    if options.action != "list":
        as_a_run_may(hands.jobs.settings())
    match options.action:
        case "add" if name and options.url:
            name = targets.save(name, options.url)
            return Told(
                note=f"{name} is a target: `schedule targets test {name}` sends it a message.",
                value=name,
                plain={"target": name},
            )
        case "remove" if name and not options.url:
            targets.remove(name)
            return Told(note=f"{name} is no target any more.", value=name, plain={"target": name})
        case "test" if name and not options.url:
            return _tested(hands.messenger, name)
        case "list" if not name:
            rows = tuple(targets.shown())
            plain = [dict(zip(("name", "address", "set"), row, strict=True)) for row in rows]
            columns = ("target", "address", "set in") if rows else ()
            return Told(columns, rows, note="" if rows else NO_TARGETS, value=rows, plain=plain)
    raise HermesError("It is written: targets, targets add NAME URL, targets remove NAME or targets test NAME.")


def _tested(messenger: Messenger, name: str) -> Told:
    waiting = Blocking(lambda: None)
    try:
        failed = waiting.run(messenger.test(name))
    finally:
        waiting.close()
    if failed:
        raise HermesError(f"{'It' if ':/' in name else name} was not reached: {failed}")
    return Told(note=f"A message went to {name}.", value=name, plain={"target": name})


DO: dict[str, Callable[[Hands, Namespace], Told]] = {
    "add": _add, "list": _list, "show": _show, "change": _change, "pause": _pause, "resume": _resume, "run": _run,
    "stop": _stop, "remove": _remove, "runs": _runs, "targets": _targets,
}  # fmt: skip
