"""A PostgreSQL server of the tests' own, from the system's packages: made in a scratch folder, reached by a socket and
on loopback, gone at the end.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.ports import own_port

USER, PASSWORD = "hermes", "open sesame/@:%"
QUOTED = "open%20sesame%2F%40%3A%25"

EMPTY = r"""DO $$ DECLARE made text; BEGIN
    FOR made IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_.*|information_schema|public)$' LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', made);
    END LOOP;
END $$"""

_numbers = itertools.count(1)


def binaries() -> Path | None:
    """Where PostgreSQL is installed: Debian keeps each version apart."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


class Postgres:
    """A server that can be stopped, started and frozen. It runs as ``postgres`` where we are root: as root it won't."""

    def __init__(self, folder: Path, programs: Path, port: int, *options: str) -> None:
        self.folder, self.programs, self.options, self.port = folder, programs, options, port
        self._as: dict[str, object] = {}
        self._free: list[str] = []
        if os.getuid() == 0:
            other = pwd.getpwnam("postgres")
            os.chown(folder, other.pw_uid, other.pw_gid)
            self._as = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._run("initdb", "-D", folder / "data", "-U", USER, "-A", "scram-sha-256", f"--pwfile={secret}", "-N",
                  "-E", "UTF8", "--locale=C.UTF-8")  # fmt: skip
        with (folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all all scram-sha-256\n")  # hosts with a network of their own
        self._process: subprocess.Popen[bytes] | None = None

    def url(
        self, database: str = "postgres", *, host: str = "127.0.0.1", password: str = QUOTED, more: str = ""
    ) -> str:
        return f"postgresql://{USER}:{password}@{host}:{self.port}/{database}{more}"

    def start(self) -> None:
        settings = {
            "port": self.port, "unix_socket_directories": self.folder, "listen_addresses": "*", "fsync": "off",
            "max_connections": 200, "shared_buffers": "32MB",
        }  # fmt: skip
        leash = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []  # killed tests leave no server
        command = [*leash, self.programs / "postgres", "-D", self.folder / "data", *self.options]
        command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, process_group=0, **self._as
            )
        while not self._answers():
            assert self._process.poll() is None, (self.folder / "log").read_text()

    def stop(self) -> None:
        """At once: whoever is connected is cut off."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)
            self._process = None

    def kill(self) -> None:
        """As a power cut would, as far as a machine that goes on can say."""
        assert self._process is not None
        self.signal(signal.SIGKILL)
        self._process.wait(30)
        self._process = None

    def signal(self, number: signal.Signals) -> None:
        """To the server and all that serve in it."""
        import psutil

        assert self._process is not None
        parent = psutil.Process(self._process.pid)
        for each in (*parent.children(recursive=True), parent):
            with suppress(psutil.NoSuchProcess):
                each.send_signal(number)

    def database(self) -> str:
        """The URL of a database with nothing in it: one that was given back, or a new one (7 MB on disk, 0.2 s)."""
        if self._free:
            return self.url(self._emptied(self._free.pop()))
        name = f"d{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def take_back(self, url: str) -> None:
        """A database that the next may have."""
        self._free.append(url.rpartition("/")[2])

    def _emptied(self, name: str) -> str:
        """Whoever is connected is cut off, what was made in it is dropped: now that it is wanted again, for a process of
        the test before may have come back to it meanwhile."""
        self.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        self.execute(EMPTY, name)
        return name

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            answer = connection.execute(statement.encode())
            return answer.fetchall() if answer.description else []

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url()).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.programs / program), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._as)


def serving(*options: str) -> Iterator[Postgres]:
    """For fixtures: a server while it is needed."""
    programs = binaries()
    if programs is None:
        assert not os.environ.get("CI"), "no PostgreSQL: apt-get install postgresql"
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with own_port() as port:
        server = Postgres(folder, programs, port, *options)
        try:
            server.start()
            yield server
        finally:
            server.stop()
            shutil.rmtree(folder)


_ONE = pytest.StashKey[Postgres]()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Postgres:
    """One for all files of a run that ask: a fixture that is imported would be made anew for each of them."""
    config = request.config
    if _ONE not in config.stash:
        served = contextmanager(serving)()
        config.stash[_ONE] = served.__enter__()
        config.add_cleanup(lambda: served.__exit__(None, None, None))
    return config.stash[_ONE]


@pytest.fixture
def url(postgres: Postgres) -> Iterator[str]:
    database = postgres.database()
    yield database
    postgres.take_back(database)
