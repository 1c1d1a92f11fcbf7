"""More views over ``facts``: what was learnt, when the slow loops looked, and what everything has used.

They stand on those of `views`. Times are UTC, sizes are tokens, ``cost`` is US dollars.
"""

from __future__ import annotations

from typing import Any

from hermes_kernel.world.store.views import VIEWS
from hermes_kernel.world.store.views_planned import PLANNED_VIEWS

MEMORY_CHANGES = """
CREATE OR REPLACE VIEW memory_changes AS
SELECT make_timestamp((t * 1e6)::BIGINT) AS time, coalesce(body->>'target', '') AS target,
       coalesce(body->'before', '[]'::JSON) AS before, coalesce(body->'after', '[]'::JSON) AS after,
       coalesce(body->>'by', '') AS who, coalesce(body->>'session', '') AS session, coalesce(body->>'why', '') AS why
FROM facts WHERE kind = 'Remembered';
"""

SKILL_CHANGES = """
CREATE OR REPLACE VIEW skill_changes AS
SELECT make_timestamp((t * 1e6)::BIGINT) AS time, coalesce(body->>'name', '') AS name,
       coalesce(body->>'action', '') AS action, coalesce(body->>'file', '') AS file,
       coalesce(body->>'before', '') AS before, coalesce(body->>'after', '') AS after,
       coalesce(body->>'by', '') AS who, coalesce(body->>'session', '') AS session, coalesce(body->>'why', '') AS why
FROM facts WHERE kind = 'SkillChanged';
"""

SKILL_USES = """
CREATE OR REPLACE VIEW skill_uses AS
SELECT make_timestamp((t * 1e6)::BIGINT) AS time, coalesce(body->>'name', '') AS name,
       coalesce(body->>'how', 'view') AS how, coalesce(body->>'file', '') AS file,
       coalesce(body->>'by', 'model') AS who, coalesce(body->>'session', '') AS session
FROM facts WHERE kind = 'SkillUsed';
"""

LOOKS = """
CREATE OR REPLACE VIEW looks AS
SELECT make_timestamp((t * 1e6)::BIGINT) AS time, coalesce(body->>'loop', '') AS loop,
       coalesce(body->>'session', '') AS session, coalesce(body->>'aside', '') AS aside,
       coalesce((body->>'seen')::BIGINT, 0) AS seen, coalesce(body->'wrote', '[]'::JSON) AS wrote,
       coalesce(body->>'outcome', '') AS outcome, coalesce(body->>'why', '') AS why
FROM facts WHERE kind = 'Looked';
"""

USAGE = """
CREATE OR REPLACE VIEW usage AS
WITH kinds AS (
    SELECT session, arg_min(coalesce(body->>'kind', 'chat'), n) AS began
    FROM facts WHERE kind = 'Opened' GROUP BY session)
SELECT time::DATE AS day, coalesce(began, 'chat') AS kind, model, sum(calls)::BIGINT AS calls,
       sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
       sum(cached_tokens)::BIGINT AS cached_tokens, sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
       sum(tokens)::BIGINT AS tokens, sum(cost) AS cost, bool_or(estimated) AS estimated
FROM calls LEFT JOIN kinds USING (session) GROUP BY ALL;
"""

ALL_VIEWS = VIEWS + MEMORY_CHANGES + SKILL_CHANGES + SKILL_USES + LOOKS + USAGE + PLANNED_VIEWS

EDITION = 3
"""Goes up whenever a view is added or says something else: who next writes a database of an earlier one renews them."""

EDITION_OF = "SELECT comment FROM duckdb_views() WHERE database_name = 'store' AND view_name = 'usage'"

STORED_VIEWS = ALL_VIEWS + f"COMMENT ON VIEW usage IS '{EDITION}';"
"""As they are kept in a database."""


def edition(found: list[tuple[Any, ...]]) -> int:
    """The one that an answer to what a database says of its views tells; 0 where it says none."""
    said = str(found[0][0]) if found else ""
    return int(said) if said.isdecimal() else 0
