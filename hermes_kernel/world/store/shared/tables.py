"""The shared store's tables and functions, as the server's SQL.

``records.seq`` is given under one lock that is held until the commit is seen, so it rises in the order of commits: who
has read up to a number has missed nothing below it. The server itself lets go of the lock: a client that stalls holds
nobody up. Text there holds no NUL: JSON escapes it, and `rows.written` does so in ids.
"""

from __future__ import annotations

# Ids may be longer than what an index takes: their `md5` stands for them.
STEPS = (
    """
CREATE TABLE records (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    n BIGINT NOT NULL,
    t DOUBLE PRECISION NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL);
CREATE INDEX records_of_session ON records (md5(session), seq);
CREATE TABLE deleted (session TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, seq BIGINT NOT NULL);
CREATE UNIQUE INDEX deleted_once ON deleted (md5(session));
CREATE TABLE claims (session TEXT NOT NULL, holder TEXT NOT NULL, token TEXT NOT NULL, backend INTEGER NOT NULL);
CREATE UNIQUE INDEX claimed_once ON claims (md5(session));
CREATE TABLE format (version INTEGER NOT NULL, store TEXT NOT NULL);
INSERT INTO format VALUES (0, gen_random_uuid()::TEXT);
""",
)
"""Step k takes a store from format k to k + 1; the first makes it. A step that was released is never changed."""

FORMAT = len(STEPS)

# The number is ours ("herm"); the schema tells the stores of one database apart.
LOCKED = "PERFORM pg_advisory_xact_lock(1751478893, hashtext(current_schema()::TEXT))"

# A claim that is renewed while its lock is still held meets its own former connection, which the server has yet to
# miss: the row's token says so.
FUNCTIONS = """
CREATE OR REPLACE FUNCTION take(
    uids TEXT[], sessions TEXT[], ns BIGINT[], ts DOUBLE PRECISION[], kinds TEXT[], bodies TEXT[])
RETURNS TEXT[] LANGUAGE plpgsql AS $body$
DECLARE
    gone TEXT[];
BEGIN
    LOCKED;
    SELECT coalesce(array_agg(d.session), '{}') INTO gone FROM deleted d WHERE d.session = ANY (sessions);
    INSERT INTO records (uid, session, n, t, kind, body)
    SELECT g.uid, g.session, g.n, g.t, g.kind, g.body
    FROM unnest(uids, sessions, ns, ts, kinds, bodies) WITH ORDINALITY AS g (uid, session, n, t, kind, body, place)
    WHERE g.session <> ALL (gone)
    ORDER BY g.place
    ON CONFLICT (uid) DO NOTHING;
    RETURN gone;
END $body$;

CREATE OR REPLACE FUNCTION forget(gone TEXT, moment DOUBLE PRECISION)
RETURNS BIGINT LANGUAGE plpgsql AS $body$
DECLARE
    had BIGINT;
BEGIN
    LOCKED;
    INSERT INTO deleted VALUES (gone, moment, nextval(pg_get_serial_sequence('records', 'seq')))
    ON CONFLICT (md5(session)) DO NOTHING;
    DELETE FROM claims WHERE md5(session) = md5(gone);
    DELETE FROM records WHERE md5(session) = md5(gone) AND session = gone;
    GET DIAGNOSTICS had = ROW_COUNT;
    RETURN had;
END $body$;

CREATE OR REPLACE FUNCTION claim(wanted TEXT, who TEXT, mine TEXT, renewed BOOLEAN)
RETURNS TEXT LANGUAGE plpgsql AS $body$
DECLARE
    known claims%ROWTYPE;
    key BIGINT := hashtextextended(current_schema() || '/' || wanted, 0);
BEGIN
    SELECT * INTO known FROM claims WHERE md5(session) = md5(wanted);
    IF renewed AND known.token IS DISTINCT FROM mine THEN
        RETURN coalesce(known.holder, 'another process');
    END IF;
    IF NOT pg_try_advisory_lock(key) THEN
        IF NOT renewed THEN
            RETURN coalesce(known.holder, 'another process');
        END IF;
        PERFORM pg_terminate_backend(known.backend);
        PERFORM pg_advisory_lock(key);
    END IF;
    INSERT INTO claims VALUES (wanted, who, mine, pg_backend_pid())
    ON CONFLICT (md5(session)) DO UPDATE SET holder = who, token = mine, backend = pg_backend_pid();
    RETURN '';
END $body$;

CREATE OR REPLACE FUNCTION unclaim(wanted TEXT, mine TEXT)
RETURNS BOOLEAN LANGUAGE plpgsql AS $body$
BEGIN
    DELETE FROM claims WHERE md5(session) = md5(wanted) AND token = mine;
    RETURN pg_advisory_unlock(hashtextextended(current_schema() || '/' || wanted, 0));
END $body$;
""".replace("LOCKED", LOCKED)
