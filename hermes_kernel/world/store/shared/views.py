"""The views of ``sessions.duckdb`` in the server's SQL, the same names, columns and rows, for any PostgreSQL client.

Times are UTC, sizes are tokens, ``cost`` is US dollars. A NUL, which the server's text cannot hold, shows as U+FFFD.
"""

from __future__ import annotations

import re

from hermes_kernel.core.text import CELLS, END_OF_CELLS

FACTS = r"""
CREATE OR REPLACE FUNCTION moment(t DOUBLE PRECISION) RETURNS TIMESTAMP LANGUAGE sql IMMUTABLE AS
$$ SELECT 'epoch'::TIMESTAMP + (t * 1e6)::BIGINT * INTERVAL '1 microsecond' $$;

CREATE OR REPLACE VIEW facts AS
SELECT uid, session, n, t, kind,
       CASE WHEN strpos(body, '\u0000') = 0 THEN body
            ELSE regexp_replace(body, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g') END::JSONB AS body
FROM records;
"""

TURNS = """
CREATE OR REPLACE VIEW turns AS
WITH steps AS (
    SELECT session, n, t, kind,
           CASE kind WHEN 'Asked' THEN 1 ELSE -coalesce((body->>'turns')::INTEGER, 1) END AS step
    FROM facts WHERE kind IN ('Asked', 'Undone')),
sums AS (
    SELECT *, sum(step) OVER (PARTITION BY session ORDER BY n) AS total FROM steps),
depths AS (
    SELECT *, total - least(0, min(total) OVER (PARTITION BY session ORDER BY n)) AS depth FROM sums),
falls AS (
    SELECT *, min(depth) OVER (PARTITION BY session ORDER BY n
                               ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS later FROM depths)
SELECT session, n, t, coalesce(later < depth, false) AS undone FROM falls WHERE kind = 'Asked';
"""

# Neighbours in time are found by counting, where DuckDB has ASOF joins: a row's group is how many calls with its id
# came before it, so each group begins with the call that its results answer.
MESSAGES = """
CREATE OR REPLACE VIEW messages AS
WITH placed AS (
    SELECT f.*, max(n) FILTER (WHERE kind = 'Asked') OVER (PARTITION BY session ORDER BY n) AS turn
    FROM facts f),
spoken AS (
    SELECT p.*, lead(p.kind) OVER (PARTITION BY p.session ORDER BY p.n) AS next,
           count(*) FILTER (WHERE p.kind IN ('Asked', 'Observed')) OVER (PARTITION BY p.session ORDER BY p.n) AS part
    FROM placed p JOIN turns u ON p.session = u.session AND p.turn = u.n
    WHERE p.kind IN ('Asked', 'Replied', 'Accepted', 'Observed', 'Final') AND NOT u.undone),
assistant AS (
    SELECT session, turn, min(n) AS n, min(t) AS t,
           coalesce(nullif(max(body->>'text') FILTER (WHERE kind = 'Final'), ''),
                    string_agg(coalesce(body->>'text', ''), '' ORDER BY n) FILTER (WHERE kind = 'Replied'), '') AS text,
           CASE WHEN count(*) FILTER (WHERE kind = 'Final') = 0
                THEN (array_agg(body->'calls' ORDER BY n DESC) FILTER (WHERE kind = 'Replied' AND body ? 'calls'))[1]
                END AS calls
    FROM spoken
    WHERE kind = 'Final'
       OR kind = 'Replied' AND (coalesce(body->>'cut', 'false') = 'false' OR coalesce(next = 'Accepted', false))
    GROUP BY session, turn, part),
named AS (
    SELECT session, n, call->>'id' AS id, call->>'name' AS name, true AS called
    FROM assistant, jsonb_array_elements(calls) AS call
    UNION ALL
    SELECT session, n, body->>'call_id', NULL, false FROM spoken WHERE kind = 'Observed'),
answered AS (
    SELECT *, count(*) FILTER (WHERE called) OVER (PARTITION BY session, id ORDER BY n) AS nth FROM named),
tools AS (
    SELECT session, n, called, max(name) OVER (PARTITION BY session, id, nth) AS name FROM answered)
SELECT session, turn, n, moment(t) AS time, 'user' AS role,
       coalesce(body->>'text', '') AS text, NULL::JSONB AS calls, NULL::TEXT AS call_id, NULL::TEXT AS tool,
       NULL::BOOLEAN AS ok
FROM spoken WHERE kind = 'Asked'
UNION ALL
SELECT session, turn, n, moment(t), 'assistant', text, calls,
       NULL, NULL, NULL
FROM assistant WHERE text <> '' OR calls IS NOT NULL
UNION ALL
SELECT s.session, s.turn, s.n, moment(s.t), 'tool',
       coalesce(s.body->>'text', ''), NULL, s.body->>'call_id', c.name, coalesce((s.body->>'ok')::BOOLEAN, true)
FROM spoken s JOIN tools c ON s.session = c.session AND s.n = c.n AND NOT c.called
WHERE s.kind = 'Observed';
"""

# Here a row's group is how many results with its id come after it: each group ends with the result of its calls.
TOOL_CALLS = """
CREATE OR REPLACE VIEW tool_calls AS
WITH told AS (
    SELECT f.session, f.n, f.t, call->>'id' AS id, call, NULL::JSONB AS seen
    FROM facts f, jsonb_array_elements(f.body->'calls') AS call WHERE f.kind = 'Replied'
    UNION ALL
    SELECT session, n, t, body->>'call_id', NULL, body FROM facts WHERE kind = 'Observed'),
counted AS (
    SELECT *, count(seen) OVER (PARTITION BY session, id ORDER BY n DESC) AS nth FROM told),
answered AS (
    SELECT session, n, t, id, call,
           CASE WHEN nth > 0 THEN first_value(seen) OVER (PARTITION BY session, id, nth ORDER BY n DESC) END AS seen
    FROM counted)
SELECT session, n, moment(t) AS time, id, call->>'name' AS name,
       call->>'arguments' AS arguments, CASE WHEN seen IS NOT NULL THEN coalesce(seen->>'text', '') END AS result,
       CASE WHEN seen IS NOT NULL THEN coalesce((seen->>'seconds')::DOUBLE PRECISION, 0) END AS seconds,
       CASE WHEN seen IS NOT NULL THEN coalesce((seen->>'ok')::BOOLEAN, true) END AS ok
FROM answered WHERE call IS NOT NULL;
"""

CALLS = """
CREATE OR REPLACE VIEW calls AS
WITH tried AS (
    SELECT *, count(*) FILTER (WHERE kind IN ('Asked', 'Replied'))
              OVER (PARTITION BY session ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS run,
           coalesce((body->'usage'->>'input_tokens')::BIGINT, 0) AS input_tokens,
           coalesce((body->'usage'->>'output_tokens')::BIGINT, 0) AS output_tokens
    FROM facts WHERE kind IN ('Asked', 'Replied', 'Failed', 'Interrupted', 'Compressed', 'Spent'))
SELECT session, n, moment(t) AS time,
       CASE kind WHEN 'Replied' THEN 'replied' WHEN 'Failed' THEN coalesce(body->>'fault', 'unknown')
                 WHEN 'Compressed' THEN 'compressed' WHEN 'Spent' THEN 'aside' ELSE 'interrupted' END AS outcome,
       coalesce(body->>'model', '') AS model, coalesce(body->>'endpoint', '') AS endpoint,
       coalesce((body->>'first_byte_seconds')::DOUBLE PRECISION, 0) AS ttfb,
       coalesce((body->>'seconds')::DOUBLE PRECISION, 0) AS seconds,
       count(*) FILTER (WHERE kind = 'Failed') OVER (PARTITION BY session, run ORDER BY n)
           - (kind = 'Failed')::INTEGER AS retries,
       input_tokens, output_tokens,
       coalesce((body->'usage'->>'cached_tokens')::BIGINT, 0) AS cached_tokens,
       coalesce((body->'usage'->>'reasoning_tokens')::BIGINT, 0) AS reasoning_tokens,
       input_tokens + output_tokens AS tokens,
       coalesce((body->'usage'->>'cost')::DOUBLE PRECISION, 0) AS cost,
       coalesce((body->'usage'->>'estimated')::BOOLEAN, kind = 'Replied' AND body->'usage' IS NULL) AS estimated,
       greatest(coalesce((body->'usage'->>'calls')::BIGINT, 1), 1) AS calls
FROM tried
WHERE kind IN ('Replied', 'Failed')
   OR kind IN ('Interrupted', 'Compressed', 'Spent') AND coalesce((body->'usage'->>'calls')::INTEGER, 0) > 0
      AND coalesce(body->>'itemised', 'false') = 'false';
"""

# The account of cells that may stand before the person's own words. The first quantifier decides for the whole
# expression here: as short as can be, so the space behind is taken off by itself.
_ACCOUNT = rf"^(.*?\n)??{re.escape(CELLS)}\n.*?\n{re.escape(END_OF_CELLS)}"
_SPACE = r"[ \t\n\f\r]"

SESSIONS = r"""
CREATE OR REPLACE VIEW sessions AS
WITH told AS (
    SELECT session AS id, max(t) AS last, min(t) AS first,
           (array_agg(body ORDER BY n) FILTER (WHERE kind = 'Opened'))[1] AS opened,
           (array_agg(body->>'title' ORDER BY n DESC) FILTER (WHERE kind = 'Titled' AND body ? 'title'))[1] AS title,
           max(n) FILTER (WHERE kind = 'Final') AS ended, max(n) FILTER (WHERE kind = 'Asked') AS asked,
           (array_agg(body->>'outcome' ORDER BY n DESC) FILTER (WHERE kind = 'Final' AND body ? 'outcome'))[1]
               AS outcome,
           (array_agg(t ORDER BY n DESC) FILTER (WHERE kind = 'Final'))[1] AS closed
    FROM facts GROUP BY session),
prompted AS (
    SELECT DISTINCT ON (f.session) f.session, f.body->>'text' AS words
    FROM facts f JOIN turns u ON f.session = u.session AND f.n = u.n
    WHERE f.kind = 'Asked' AND f.body ? 'text' AND NOT u.undone ORDER BY f.session, f.n),
called AS (
    SELECT told.*, CASE WHEN words ~ '{ACCOUNT}'
                   THEN regexp_replace(regexp_replace(words, '{ACCOUNT}', ''), '^{SPACE}+', '') ELSE words END AS prompt
    FROM told LEFT JOIN prompted ON told.id = prompted.session),
spent AS (
    SELECT session, sum(calls)::BIGINT AS calls, sum(tokens)::BIGINT AS tokens, sum(cost) AS cost
    FROM calls GROUP BY session)
SELECT id, coalesce(opened->>'parent', '') AS parent, coalesce(opened->>'kind', 'chat') AS kind,
       coalesce(title, left(regexp_replace(trim(prompt), '{SPACE}+', ' ', 'g'), 80), '') AS title,
       coalesce(opened->>'notebook', '') AS notebook, coalesce(opened->>'model', '') AS model,
       moment(first) AS started,
       CASE WHEN ended > coalesce(asked, -1)
            THEN moment(closed) END AS ended,
       CASE WHEN ended > coalesce(asked, -1) THEN outcome ELSE '' END AS outcome,
       coalesce(calls, 0) AS calls, coalesce(tokens, 0) AS tokens, coalesce(cost, 0) AS cost,
       moment(last) AS active
FROM called LEFT JOIN spent ON called.id = spent.session;
""".replace("{ACCOUNT}", _ACCOUNT).replace("{SPACE}", _SPACE)

VIEWS = FACTS + TURNS + MESSAGES + TOOL_CALLS + CALLS + SESSIONS
