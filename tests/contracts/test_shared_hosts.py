"""Three homes on three hosts share a store: whatever becomes of one of them, the others find all that was acknowledged.

A host is a process with a home of its own; where the machine lets us, also with a network of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from uuid import uuid4

import pytest

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.opening import open_store
from tests.contracts.stores import ROOT, journals
from tests.postgres import postgres, url  # noqa: F401 - fixtures

# Says each fact once it is acknowledged. `how` says where to stop for good: before the server hears of the last fact,
# or with what the server has in hand and not yet in the database.
HOST = """
import sys
from pathlib import Path
from uuid import uuid4
from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.shared.hub import Hub
from hermes_kernel.world.store.shared.address import address

home, url, session, count, how = sys.argv[1:]

class Stalling(Hub):
    def append(self, records):
        if how == "append" and records[-1].n == int(count):
            self.stop("in the journal alone")
        super().append(records)

    def behind(self, done, session=None):
        for behind in super().behind(done, session):
            if how == "fold" and session is None:
                self.stop("in the fold")
            yield behind

    def stop(self, where):
        print(where, flush=True)
        sys.stdin.read()

fresh = lambda: uuid4().hex
log = Store(Path(home), ids=fresh, shared=Stalling(address(url), clock=SystemClock(), ids=fresh))
with log.claim(session):
    log.append(session, Opened(session))
    print(0, flush=True)
    for n in range(1, int(count) + 1):
        log.append(session, Asked(f"{session} {n}"))
        print(n, flush=True)
    if how == "forever":
        sys.stdin.read()
if how in ("fold", "folding"):
    print("folding", flush=True)
    while log.fold() and how == "folding":
        log.append(session, Asked("and on"))
        print("folded", flush=True)
log.close()
"""


class Hosts:
    def __init__(self, folder, url, network=()):  # noqa: F811
        self.folder, self.url, self._network, self._running = folder, url, network, []

    def start(self, home, session, count, how="end"):
        prefix = [word.format(home=home) for word in self._network]
        command = [*prefix, sys.executable, "-c", HOST, str(self.folder / home), self.url, session, str(count), how]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
        )
        self._running.append(process)
        return process

    def open(self, home, url=None):  # noqa: F811
        return open_store(self.folder / home, url or self.url, ids=lambda: uuid4().hex)

    def end(self):
        for process in self._running:
            process.kill()
            process.communicate()


@pytest.fixture
def hosts(tmp_path, url):  # noqa: F811
    hosts = Hosts(tmp_path, url)
    yield hosts
    hosts.end()


def until(process, said):
    """Everything it said before and up to `said`."""
    heard = []
    for line in process.stdout:
        heard.append(line.strip())
        if heard[-1] == said:
            return heard
    raise AssertionError(f"it ended before {said!r}: {heard[-3:]}")


def killed(process):
    """Everything it had said when it was killed."""
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    return out.split()


def facts(session, last):
    return [Opened(session), *(Asked(f"{session} {n}") for n in range(1, last + 1))]


def test_one_of_three_is_killed_in_mid_fold_and_the_others_find_everything(hosts):
    a, b = hosts.start("a", "sa", 60), hosts.start("b", "sb", 60)
    c = hosts.start("c", "sc", 40, "fold")
    assert "40" in until(c, "in the fold")
    killed(c)
    until(a, "60")
    until(b, "60")
    for home in ("a", "b", "c"):
        log = hosts.open(home)
        for session, last in (("sa", 60), ("sb", 60), ("sc", 40)):
            assert log.recall(session) == facts(session, last)
        assert {row.id for row in log.sessions()} == {"sa", "sb", "sc"}
        log.fold()
        assert [len(log.recall(session)) for session in ("sa", "sb", "sc")] == [61, 61, 41]
        assert log.fold().facts == 0
        log.close()


def test_whenever_one_is_killed_nothing_acknowledged_is_lost_or_doubled(hosts):
    """Killed four times at any moment of writing and folding, each time in a new session; its home goes on."""
    a, told = hosts.start("a", "sa", 100), {}
    for n in range(4):
        c = hosts.start("c", f"c{n}", 20, "folding")
        heard = until(c, "folding")
        if n % 2:
            heard += until(c, "folded")
        told[f"c{n}"] = heard + killed(c)
    until(a, "100")
    logs = {home: hosts.open(home) for home in ("a", "b", "c")}
    logs["c"].fold()  # what it had not sent
    for log in logs.values():
        for session, heard in told.items():
            more = log.recall(session)[21:]
            assert log.recall(session)[:21] == facts(session, 20)
            assert set(more) <= {Asked("and on")}
            assert 0 <= len(more) - heard.count("folded") <= 1
        log.fold()
        assert log.fold().facts == 0
        assert log.recall("sa") == facts("sa", 100)
        log.close()


def test_what_only_the_journal_of_a_killed_host_had_is_sent_when_its_home_comes_back(hosts):
    c = hosts.start("c", "sc", 5, "append")
    until(c, "in the journal alone")
    killed(c)
    b = hosts.open("b")
    assert b.recall("sc") == facts("sc", 4)  # the fifth was never acknowledged
    back = hosts.open("c")
    assert back.recall("sc") == facts("sc", 5)
    assert back.fold().waiting == ""
    assert b.recall("sc") == facts("sc", 5)
    assert journals(hosts.folder / "c") == []
    with back.claim("sc"), b.claim("other"):
        pass
    for log in (b, back):
        log.close()


def test_a_server_stopped_and_started_in_mid_write_loses_nothing_and_doubles_nothing(hosts, postgres):  # noqa: F811
    writers = {name: hosts.start(name, f"s{name}", 150) for name in "ab"}
    for name, writer in writers.items():
        until(writer, "30" if name == "a" else "10")
    postgres.kill()
    until(writers["a"], "60")
    postgres.start()
    for writer in writers.values():
        until(writer, "150")
        assert writer.wait(60) == 0
    logs = [hosts.open(name) for name in "ab"]
    for log in logs:
        assert log.fold().waiting == ""
    for log in logs:
        assert [log.recall(f"s{name}") == facts(f"s{name}", 150) for name in "ab"] == [True, True]
        log.fold()
        assert log.fold().facts == 0
        log.close()
    assert postgres.execute("SELECT count(*) FROM hermes_kernel.records", hosts.url.rpartition("/")[2]) == [(302,)]


def test_two_hosts_in_one_session_the_second_is_refused_by_name_until_the_first_is_gone(hosts):
    a = hosts.start("a", "s", 3, "forever")
    until(a, "3")
    b = hosts.open("b")
    with pytest.raises(
        StoreError, match=rf"session 's' is in use by process {a.pid} on {os.uname().nodename}: stop it"
    ):
        b.claim("s")
    killed(a)
    with _claimed_soon(b, "s"):
        assert b.recall("s") == facts("s", 3)
    b.close()


def _claimed_soon(log, session):
    """The server hears of a death when the machine says so, which is soon after."""
    while True:
        with suppress(StoreError):
            return log.claim(session)


@pytest.fixture
def networks(tmp_path, postgres, url):  # noqa: F811
    """Hosts with a network of their own each, which reach the server's by a cable."""
    made, number = [], os.getpid() % 200

    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    try:
        for at, home in enumerate("abc", 1):
            name, near, far = f"hk{number}{home}", f"hn{number}{home}", f"hf{number}{home}"
            ip("netns", "add", name)
            made.append(name)
            ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
            ip("addr", "add", f"10.{number}.{at}.1/24", "dev", near)
            ip("link", "set", near, "up")
            ip("-n", name, "addr", "add", f"10.{number}.{at}.2/24", "dev", far)
            ip("-n", name, "link", "set", far, "up")
            ip("-n", name, "route", "add", "default", "via", f"10.{number}.{at}.1")
        database = url.rpartition("/")[2]
        hosts = Hosts(
            tmp_path, postgres.url(database, host=f"10.{number}.1.1"), ("ip", "netns", "exec", f"hk{number}{{home}}")
        )
        hosts.cables = {home: f"hn{number}{home}" for home in "abc"}
        yield hosts
        hosts.end()
    except (OSError, subprocess.CalledProcessError) as error:
        if os.environ.get("CI") and os.getuid() == 0:
            raise
        pytest.skip(f"no network namespaces: {error}")
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


def test_three_hosts_with_networks_of_their_own_one_of_which_is_unplugged(networks, url):  # noqa: F811
    hosts = networks
    writers = {home: hosts.start(home, f"s{home}", 40) for home in "ab"}
    c = hosts.start("c", "sc", 10, "forever")
    until(c, "10")
    killed(c)
    subprocess.run(["ip", "link", "set", hosts.cables["c"], "down"], check=True)
    offline = hosts.start("c", "alone", 3)
    until(offline, "3")  # the turn goes on
    assert offline.wait(60) == 0
    for home, writer in writers.items():
        until(writer, "40")
        log = hosts.open(home, url)
        assert log.recall("sc") == facts("sc", 10)
        with pytest.raises(KeyError):
            log.recall("alone")
        log.close()
    subprocess.run(["ip", "link", "set", hosts.cables["c"], "up"], check=True)
    back = hosts.open("c")  # what it owes, it owes to the address it knew
    assert back.fold().waiting == ""
    a = hosts.open("a", url)
    assert a.recall("alone") == facts("alone", 3)
    for log in (a, back):
        log.close()
