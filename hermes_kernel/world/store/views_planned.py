"""Views over ``facts`` about scheduled work: what jobs there are and were, and what became of each instant.

A run is called ``run`` by whoever began it; of an instant that was skipped, as it would have been. Times are UTC.
"""

from __future__ import annotations

from hermes_kernel.core.planned import SHORT

# A job is what was said of it last, before it was removed for the first time.
JOBS = """
CREATE OR REPLACE VIEW jobs AS
WITH gone AS (
    SELECT body->>'job' AS id, min(t) AS t, min(greatest(t, coalesce((body->>'after')::DOUBLE, 0))) AS rank
    FROM facts WHERE kind = 'JobRemoved' GROUP BY ALL),
told AS (
    SELECT f.t, f.session, f.n, f.body->'job' AS job, f.body->'job'->>'id' AS id,
           coalesce(f.body->>'by', 'person') AS who, gone.t AS gone,
           greatest(f.t, coalesce((f.body->>'after')::DOUBLE, 0)) AS rank
    FROM facts f LEFT JOIN gone ON gone.id = (f.body->'job'->>'id')
    WHERE f.kind = 'JobSet' AND (
        gone.t IS NULL OR greatest(f.t, coalesce((f.body->>'after')::DOUBLE, 0)) <= gone.rank)),
made AS (
    SELECT DISTINCT ON (id) id, t, who FROM told ORDER BY id, rank, session, n),
latest AS (
    SELECT DISTINCT ON (id) * FROM told ORDER BY id, rank DESC, session DESC, n DESC)
SELECT latest.id AS job, coalesce(job->>'name', '') AS name, coalesce(job->>'schedule', '') AS schedule,
       coalesce(job->>'zone', '') AS zone, coalesce((job->>'enabled')::BOOLEAN, true) AS enabled,
       latest.gone IS NOT NULL AS removed, make_timestamp((made.t * 1e6)::BIGINT) AS made,
       make_timestamp((coalesce(latest.gone, latest.t) * 1e6)::BIGINT) AS changed, made.who AS who,
       coalesce(job->>'prompt', '') AS prompt, coalesce(job->>'notebook', '') AS notebook,
       coalesce(job->>'folder', '') AS folder, coalesce(job->'deliver', '["notebook"]'::JSON) AS deliver,
       coalesce(job->'skills', '[]'::JSON) AS skills, coalesce(job->>'model', '') AS model,
       coalesce((job->>'repeat')::BIGINT, 0) AS repeat, coalesce(job->>'misfire', 'once') AS misfire,
       coalesce(job->>'place', '') AS place
FROM latest JOIN made ON latest.id = made.id;
"""

# Of what is said twice, the first counts; an end that was only guessed gives way to one that was seen.
JOB_RUNS = """
CREATE OR REPLACE VIEW job_runs AS
WITH told AS (
    SELECT kind, t, session AS kept, n, body, body->>'job' AS job, body->>'run' AS run
    FROM facts WHERE kind IN ('RunWanted', 'RunBegan', 'RunEnded', 'Told')),
wanted AS (
    SELECT job, run, min(floor(t)) AS t FROM told WHERE kind = 'RunWanted' GROUP BY ALL),
began AS (
    SELECT DISTINCT ON (job, run) job, run, t, (body->>'due')::DOUBLE AS due,
           coalesce((body->>'asked')::BOOLEAN, false) AS asked, coalesce(body->>'notebook', '') AS notebook
    FROM told WHERE kind = 'RunBegan' ORDER BY job, run, t, kept, n),
ended AS (
    SELECT DISTINCT ON (job, run) job, run, t, (body->>'due')::DOUBLE AS due, coalesce(body->>'outcome', '') AS outcome,
           coalesce(body->>'why', '') AS why, coalesce(body->>'session', '') AS session,
           coalesce((body->>'silent')::BOOLEAN, false) AS silent
    FROM told WHERE kind = 'RunEnded'
    ORDER BY job, run, coalesce((body->>'guessed')::BOOLEAN, false)::INTEGER, t, kept, n),
lapsed AS (
    SELECT body->>'job' AS job, unnest((body->'due')::DOUBLE[]) AS due, body->>'why' AS why, t, session, n
    FROM facts WHERE kind = 'Skipped'),
skipped AS (
    SELECT DISTINCT ON (job, due) job, due, coalesce(why, '') AS why,
           left(job, {SHORT}) || '-' || strftime(make_timestamp((due * 1e6)::BIGINT), '%Y%m%dT%H%M%SZ') AS run
    FROM lapsed ORDER BY job, due, t, session, n),
sent AS (
    SELECT job, run, body->>'target' AS target, bool_or(coalesce(body->>'failed', '') = '') AS reached
    FROM told WHERE kind = 'Told' GROUP BY ALL),
sums AS (
    SELECT job, run, count(*) FILTER (reached) AS told, count(*) FILTER (NOT reached) AS untold
    FROM sent GROUP BY ALL),
ids AS (
    SELECT job, run FROM wanted UNION SELECT job, run FROM began
    UNION SELECT job, run FROM ended UNION SELECT job, run FROM skipped)
SELECT i.job, coalesce(j.name, '') AS name, i.run,
       make_timestamp((coalesce(b.due, e.due, s.due, w.t) * 1e6)::BIGINT) AS due,
       coalesce(b.asked, w.t IS NOT NULL) AS asked, make_timestamp((b.t * 1e6)::BIGINT) AS began,
       make_timestamp((e.t * 1e6)::BIGINT) AS ended,
       CASE WHEN e.t IS NOT NULL THEN e.outcome WHEN b.t IS NOT NULL THEN 'running'
            WHEN s.due IS NOT NULL THEN 'skipped' ELSE 'waiting' END AS outcome,
       CASE WHEN e.t IS NOT NULL THEN e.why WHEN b.t IS NOT NULL THEN '' ELSE coalesce(s.why, '') END AS why,
       CASE WHEN e.t >= b.t THEN e.t - b.t WHEN e.t < b.t THEN 0 END AS seconds, coalesce(e.session, '') AS session,
       coalesce(b.notebook, '') AS notebook, coalesce(e.silent, false) AS silent,
       coalesce(u.told, 0) AS told, coalesce(u.untold, 0) AS untold
FROM ids i LEFT JOIN jobs j USING (job) LEFT JOIN wanted w USING (job, run) LEFT JOIN began b USING (job, run)
     LEFT JOIN ended e USING (job, run) LEFT JOIN skipped s USING (job, run) LEFT JOIN sums u USING (job, run);
""".replace("{SHORT}", str(SHORT))

PLANNED_VIEWS = JOBS + JOB_RUNS
