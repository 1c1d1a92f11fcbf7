"""The schema of ``sessions.duckdb``: one table of facts, and the views over it that other programs may rely on.

Times are UTC, sizes are tokens, ``cost`` is US dollars. The views name ``facts`` alone, so they read the same over the
database and over database and journals together.
"""

from __future__ import annotations

import re

from hermes_kernel.core.text import CELLS, END_OF_CELLS

FORMAT = 2

TABLES = """
CREATE TABLE facts (uid VARCHAR, session VARCHAR, n BIGINT, t DOUBLE, kind VARCHAR, body JSON USING COMPRESSION zstd,
                    number BIGINT);
CREATE TABLE journals (name VARCHAR, folded BIGINT);
CREATE TABLE deleted (session VARCHAR, t DOUBLE);
CREATE TABLE format (version INTEGER);
CREATE TABLE threads (session VARCHAR, parent VARCHAR, title VARCHAR, notebook VARCHAR, model VARCHAR, last DOUBLE,
                      asked BIGINT, latest BIGINT, first_number BIGINT, last_number BIGINT);
CREATE TABLE passages (mid INTEGER, number BIGINT, skipped INTEGER, session VARCHAR, n BIGINT, t DOUBLE, role VARCHAR,
                       tool VARCHAR, size INTEGER);
CREATE TABLE runs (run INTEGER, first INTEGER, passages INTEGER, common INTEGER);
CREATE TABLE units (head UBIGINT, unit VARCHAR, id INTEGER, run INTEGER, passages INTEGER);
CREATE TABLE postings (id INTEGER, mid INTEGER, size INTEGER, often INTEGER, places INTEGER[]);
CREATE TABLE indexed (facts BIGINT, passages INTEGER, units INTEGER, runs INTEGER);
INSERT INTO indexed VALUES (0, 0, 0, 0);
"""
"""What everything else is made from are the facts; ``threads`` and what follows it is the index, made from them by
`index`, and no other program's business."""

# A turn is numbered by its prompt. `starts` are the turns that can still be taken back, as `core.search.passages` keeps
# them: the last of those before a compression, and a copied conversation as a whole; `gone` are those that were.
TURNS = """
CREATE OR REPLACE VIEW turns AS
WITH steps AS (
    SELECT session, n, t, kind,
           CASE kind WHEN 'Undone' THEN coalesce((body->>'turns')::INTEGER, 1) ELSE 0 END AS back
    FROM facts
    WHERE kind IN ('Asked', 'Undone', 'Compressed')
       OR kind = 'Opened' AND list_contains(body->>'$.transcript[*].role', 'user')),
told AS (
    SELECT session, list_reduce(
        list_prepend(
            {'n': -1, 'kind': '', 'back': 0, 'starts': []::BIGINT[], 'gone': []::BIGINT[]},
            list({'n': n, 'kind': kind, 'back': back, 'starts': []::BIGINT[], 'gone': []::BIGINT[]} ORDER BY n)),
        lambda so, step: {
            'n': step.n, 'kind': step.kind, 'back': step.back,
            'starts': CASE step.kind WHEN 'Undone' THEN so.starts[:greatest(len(so.starts) - step.back, 0)]
                                     WHEN 'Compressed' THEN so.starts[-1:]
                                     ELSE list_append(so.starts, step.n) END,
            'gone': CASE step.kind WHEN 'Undone'
                                   THEN list_concat(so.gone, so.starts[greatest(len(so.starts) - step.back, 0) + 1:])
                                   ELSE so.gone END}).gone AS gone
    FROM steps GROUP BY session)
SELECT session, n, t, list_contains(gone, n) AS undone FROM steps JOIN told USING (session) WHERE kind = 'Asked';
"""

# Replies that follow one another without a tool between them are one message, and the turn's last words are its final
# ones. A cut reply counts once it is accepted. Calls right before the end were asked for when no tools were to be
# had: they are not part of what was said.
MESSAGES = """
CREATE OR REPLACE VIEW messages AS
WITH spoken AS (
    SELECT f.*, u.n AS turn,
           lead(f.kind) OVER (PARTITION BY f.session ORDER BY f.n) AS next,
           count(*) FILTER (f.kind IN ('Asked', 'Observed')) OVER (PARTITION BY f.session ORDER BY f.n) AS part
    FROM facts f ASOF JOIN turns u ON f.session = u.session AND f.n >= u.n
    WHERE f.kind IN ('Asked', 'Replied', 'Accepted', 'Observed', 'Final') AND NOT u.undone),
assistant AS (
    SELECT session, turn, min(n) AS n, min(t) AS t,
           coalesce(nullif(max(body->>'text') FILTER (kind = 'Final'), ''),
                    string_agg(coalesce(body->>'text', ''), '' ORDER BY n) FILTER (kind = 'Replied'), '') AS text,
           CASE WHEN count(*) FILTER (kind = 'Final') = 0 THEN arg_max(body->'calls', n) FILTER (kind = 'Replied') END
               AS calls
    FROM spoken
    WHERE kind = 'Final'
       OR kind = 'Replied' AND (coalesce(body->>'cut', 'false') = 'false' OR coalesce(next = 'Accepted', false))
    GROUP BY session, turn, part),
called AS (
    SELECT session, n, unnest(calls::JSON[]) AS call FROM assistant)
SELECT session, turn, n, make_timestamp((t * 1e6)::BIGINT) AS time, 'user' AS role, coalesce(body->>'text', '') AS text,
       NULL::JSON AS calls, NULL AS call_id, NULL AS tool, NULL::BOOLEAN AS ok
FROM spoken WHERE kind = 'Asked'
UNION ALL
SELECT session, turn, n, make_timestamp((t * 1e6)::BIGINT), 'assistant', text, calls, NULL, NULL, NULL
FROM assistant WHERE text <> '' OR calls IS NOT NULL
UNION ALL
SELECT s.session, s.turn, s.n, make_timestamp((s.t * 1e6)::BIGINT), 'tool', coalesce(s.body->>'text', ''), NULL,
       s.body->>'call_id', c.call->>'name', coalesce((s.body->>'ok')::BOOLEAN, true)
FROM spoken s ASOF LEFT JOIN called c ON s.session = c.session AND (s.body->>'call_id') = (c.call->>'id') AND s.n > c.n
WHERE s.kind = 'Observed';
"""

TOOL_CALLS = """
CREATE OR REPLACE VIEW tool_calls AS
WITH asked AS (
    SELECT session, n, t, unnest((body->'calls')::JSON[]) AS call FROM facts WHERE kind = 'Replied'),
seen AS (
    SELECT session, n, body->>'call_id' AS id, body FROM facts WHERE kind = 'Observed')
SELECT a.session, a.n, make_timestamp((a.t * 1e6)::BIGINT) AS time, a.call->>'id' AS id, a.call->>'name' AS name,
       a.call->>'arguments' AS arguments, CASE WHEN s.id IS NOT NULL THEN coalesce(s.body->>'text', '') END AS result,
       CASE WHEN s.id IS NOT NULL THEN coalesce((s.body->>'seconds')::DOUBLE, 0) END AS seconds,
       CASE WHEN s.id IS NOT NULL THEN coalesce((s.body->>'ok')::BOOLEAN, true) END AS ok
FROM asked a ASOF LEFT JOIN seen s ON a.session = s.session AND (a.call->>'id') = s.id AND a.n < s.n;
"""

# One row for each model call that came back, failed or was stopped, and one for what a compression or other side work
# cost, of however many calls, which `calls` says. What has its calls on record in sessions of their own is left out:
# they are rows there. `retries` counts the failures since the last reply or prompt. A reply that says nothing
# of its usage was one call, estimated.
CALLS = """
CREATE OR REPLACE VIEW calls AS
WITH tried AS (
    SELECT *, count(*) FILTER (kind IN ('Asked', 'Replied'))
              OVER (PARTITION BY session ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS run
    FROM facts WHERE kind IN ('Asked', 'Replied', 'Failed', 'Interrupted', 'Compressed', 'Spent'))
SELECT session, n, make_timestamp((t * 1e6)::BIGINT) AS time,
       CASE kind WHEN 'Replied' THEN 'replied' WHEN 'Failed' THEN coalesce(body->>'fault', 'unknown')
                 WHEN 'Compressed' THEN 'compressed' WHEN 'Spent' THEN 'aside' ELSE 'interrupted' END AS outcome,
       coalesce(body->>'model', '') AS model, coalesce(body->>'endpoint', '') AS endpoint,
       coalesce((body->>'first_byte_seconds')::DOUBLE, 0) AS ttfb,
       coalesce((body->>'seconds')::DOUBLE, 0) AS seconds,
       count(*) FILTER (kind = 'Failed') OVER (PARTITION BY session, run ORDER BY n)
           - (kind = 'Failed')::INTEGER AS retries,
       coalesce((body->'usage'->>'input_tokens')::BIGINT, 0) AS input_tokens,
       coalesce((body->'usage'->>'output_tokens')::BIGINT, 0) AS output_tokens,
       coalesce((body->'usage'->>'cached_tokens')::BIGINT, 0) AS cached_tokens,
       coalesce((body->'usage'->>'reasoning_tokens')::BIGINT, 0) AS reasoning_tokens,
       input_tokens + output_tokens AS tokens,
       coalesce((body->'usage'->>'cost')::DOUBLE, 0) AS cost,
       coalesce((body->'usage'->>'estimated')::BOOLEAN, kind = 'Replied' AND (body->'usage') IS NULL) AS estimated,
       greatest(coalesce((body->'usage'->>'calls')::BIGINT, 1), 1) AS calls
FROM tried
WHERE kind IN ('Replied', 'Failed')
   OR kind IN ('Interrupted', 'Compressed', 'Spent') AND coalesce((body->'usage'->>'calls')::INTEGER, 0) > 0
      AND coalesce(body->>'itemised', 'false') = 'false';
"""

# A session is called by the person's own words, not by the account of cells that may stand before them.
ACCOUNT = rf"^(.*?\n)?{re.escape(CELLS)}\n.*?\n{re.escape(END_OF_CELLS)}\s*"

SESSIONS = """
CREATE OR REPLACE VIEW sessions AS
WITH told AS (
    SELECT session AS id, max(t) AS last, min(t) AS first,
           any_value(body) FILTER (kind = 'Opened') AS opened,
           arg_max(body->>'title', n) FILTER (kind = 'Titled') AS title,
           max(n) FILTER (kind = 'Final') AS ended, max(n) FILTER (kind = 'Asked') AS asked,
           arg_max(body->>'outcome', n) FILTER (kind = 'Final') AS outcome,
           arg_max(t, n) FILTER (kind = 'Final') AS closed
    FROM facts GROUP BY session),
prompted AS (
    SELECT f.session, regexp_replace(arg_min(f.body->>'text', f.n), '{ACCOUNT}', '', 's') AS prompt
    FROM facts f JOIN turns u ON f.session = u.session AND f.n = u.n
    WHERE f.kind = 'Asked' AND NOT u.undone GROUP BY f.session),
spent AS (
    SELECT session, sum(calls)::BIGINT AS calls, sum(tokens)::BIGINT AS tokens, sum(cost) AS cost
    FROM calls GROUP BY session)
SELECT id, coalesce(opened->>'parent', '') AS parent, coalesce(opened->>'kind', 'chat') AS kind,
       coalesce(title, left(regexp_replace(trim(prompt), '\\s+', ' ', 'g'), 80), '') AS title,
       coalesce(opened->>'notebook', '') AS notebook, coalesce(opened->>'model', '') AS model,
       make_timestamp((first * 1e6)::BIGINT) AS started,
       CASE WHEN ended > coalesce(asked, -1) THEN make_timestamp((closed * 1e6)::BIGINT) END AS ended,
       CASE WHEN ended > coalesce(asked, -1) THEN outcome ELSE '' END AS outcome,
       coalesce(calls, 0) AS calls, coalesce(tokens, 0) AS tokens, coalesce(cost, 0) AS cost,
       make_timestamp((last * 1e6)::BIGINT) AS active
FROM told LEFT JOIN prompted ON told.id = prompted.session LEFT JOIN spent ON told.id = spent.session;
""".replace("{ACCOUNT}", ACCOUNT)

VIEWS = TURNS + MESSAGES + TOOL_CALLS + CALLS + SESSIONS
