"""SQL that a person gives reads the store and does nothing else, each bar in DuckDB by itself."""

from __future__ import annotations

import pytest

from hermes_kernel.looking.sql import NoAnswer, answer
from tests.contracts.stores import store, told, turn

ORDERS = (
    "DELETE FROM facts", "DROP VIEW facts", "CREATE TABLE mine (i INTEGER)", "UPDATE store.facts SET session = 'x'",
    "EXPLAIN ANALYZE DELETE FROM store.facts", "EXPLAIN ANALYZE UPDATE store.facts SET session = 'x'",
    "EXPLAIN ANALYZE CREATE TABLE store.mine (i INTEGER)", "SELECT 1; DELETE FROM facts", "CHECKPOINT store",
    "SELECT * FROM query('DELETE FROM store.facts')", "WITH x AS (DELETE FROM store.facts) SELECT * FROM x",
)  # fmt: skip
ELSEWHERE = (
    "SELECT * FROM read_text('{there}')", "SELECT * FROM read_blob('{there}')", "SELECT * FROM read_csv('{there}')",
    "SELECT * FROM '{there}'", "SELECT * FROM glob('{there}*')", "SELECT * FROM sniff_csv('{there}')",
    "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')", "ATTACH '{there}' AS other", "COPY facts TO '{fresh}'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{fresh}'", "EXPORT DATABASE '{fresh}'", "INSTALL httpfs", "LOAD httpfs",
    "EXPLAIN ANALYZE INSTALL httpfs", "SELECT * FROM duckdb_secrets()",
)  # fmt: skip
SETTINGS = (
    "SET enable_external_access = true", "SET temp_directory = '{fresh}'", "PRAGMA enable_profiling", "RESET threads",
    "EXPLAIN ANALYZE SET memory_limit = '9GB'", "SELECT * FROM enable_logging()", "SELECT * FROM disable_logging()",
)  # fmt: skip


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    log = store(tmp_path_factory.mktemp("asked") / "home")
    told(log, "s", turn("s"))
    log.fold()
    told(log, "t", turn("t"))
    return log


def asked(log, statement, tmp_path):
    (tmp_path / "there.csv").write_text("word\ntold\n")
    return answer(log, statement.format(there=tmp_path / "there.csv", fresh=tmp_path / "fresh"))


@pytest.mark.parametrize("statement", [*ORDERS, *ELSEWHERE, *SETTINGS])
def test_what_is_no_question_about_the_store_is_refused_in_a_line(log, tmp_path, statement):
    with pytest.raises(NoAnswer) as refused:
        asked(log, statement, tmp_path)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "fresh").exists()


def test_after_all_that_the_store_is_what_it_was(log):
    assert answer(log, "SELECT session, count(*) FROM facts GROUP BY ALL ORDER BY ALL").rows == (("s", 7), ("t", 7))
