"""The views of `store.views_beside` in the server's SQL: the same names, columns and rows."""

from __future__ import annotations

from hermes_kernel.world.store.shared.views import VIEWS
from hermes_kernel.world.store.shared.views_planned import PLANNED_VIEWS
from hermes_kernel.world.store.views_beside import EDITION

MEMORY_CHANGES = """
CREATE OR REPLACE VIEW memory_changes AS
SELECT moment(t) AS time, coalesce(body->>'target', '') AS target,
       coalesce(body->'before', '[]') AS before, coalesce(body->'after', '[]') AS after,
       coalesce(body->>'by', '') AS who, coalesce(body->>'session', '') AS session, coalesce(body->>'why', '') AS why
FROM facts WHERE kind = 'Remembered';
"""

SKILL_CHANGES = """
CREATE OR REPLACE VIEW skill_changes AS
SELECT moment(t) AS time, coalesce(body->>'name', '') AS name,
       coalesce(body->>'action', '') AS action, coalesce(body->>'file', '') AS file,
       coalesce(body->>'before', '') AS before, coalesce(body->>'after', '') AS after,
       coalesce(body->>'by', '') AS who, coalesce(body->>'session', '') AS session, coalesce(body->>'why', '') AS why
FROM facts WHERE kind = 'SkillChanged';
"""

SKILL_USES = """
CREATE OR REPLACE VIEW skill_uses AS
SELECT moment(t) AS time, coalesce(body->>'name', '') AS name,
       coalesce(body->>'how', 'view') AS how, coalesce(body->>'file', '') AS file,
       coalesce(body->>'by', 'model') AS who, coalesce(body->>'session', '') AS session
FROM facts WHERE kind = 'SkillUsed';
"""

LOOKS = """
CREATE OR REPLACE VIEW looks AS
SELECT moment(t) AS time, coalesce(body->>'loop', '') AS loop,
       coalesce(body->>'session', '') AS session, coalesce(body->>'aside', '') AS aside,
       coalesce((body->>'seen')::BIGINT, 0) AS seen, coalesce(body->'wrote', '[]') AS wrote,
       coalesce(body->>'outcome', '') AS outcome, coalesce(body->>'why', '') AS why
FROM facts WHERE kind = 'Looked';
"""

USAGE = """
CREATE OR REPLACE VIEW usage AS
WITH kinds AS (
    SELECT DISTINCT ON (session) session, coalesce(body->>'kind', 'chat') AS began
    FROM facts WHERE kind = 'Opened' ORDER BY session, n)
SELECT time::DATE AS day, coalesce(began, 'chat') AS kind, model, sum(calls)::BIGINT AS calls,
       sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
       sum(cached_tokens)::BIGINT AS cached_tokens, sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
       sum(tokens)::BIGINT AS tokens, sum(cost) AS cost, bool_or(estimated) AS estimated
FROM calls LEFT JOIN kinds USING (session) GROUP BY 1, 2, 3;
"""

STORED_VIEWS = (
    VIEWS
    + MEMORY_CHANGES
    + SKILL_CHANGES
    + SKILL_USES
    + LOOKS
    + USAGE
    + PLANNED_VIEWS
    + f"COMMENT ON VIEW usage IS '{EDITION}';"
)

EDITION_OF = """
SELECT obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
WHERE s.nspname = current_setting('search_path') AND c.relname = 'usage' AND c.relkind = 'v'
"""
