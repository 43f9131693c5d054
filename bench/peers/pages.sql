-- Fills a store for the cells of pages. {jobs}: how many jobs there are. There are a tenth as many schedules and ten times
-- as many slots. The schedule "model" exists.
--
-- Three quarters of the jobs have finished in the last 20 hours, so that none is pruned. The others are due later, in queues
-- that no node serves.

INSERT INTO hourbell.schedule (revision, anchor, mark, next_at, created_at, updated_at, name, owner, group_name, definition)
SELECT 1, now(), now(), now() + interval '10 days' + i * interval '1 second', now(), now(), 'team ' || i % 100 || '/schedule ' || i, 'file ' || i % 50,
    g.name, CASE WHEN g.name IS NULL THEN m.definition ELSE '{"group":"' || g.name || '",' || substr(m.definition, 2) END
FROM (SELECT definition FROM hourbell.schedule WHERE name = 'model') AS m, generate_series(1, {jobs} / 10) AS i,
    LATERAL (SELECT CASE WHEN i % 10 = 0 THEN 'group ' || i % 200 END AS name) AS g;

UPDATE hourbell.schedule SET next_at = now() + interval '10 days' WHERE name = 'model';

-- The newest slots are of the jobs that have finished; the others are of the month before.
INSERT INTO hourbell.slot (schedule_id, slot, last, count, job_id, recorded_at, outcome, reason)
SELECT s.schedule_id, s.at, s.at, 1, CASE WHEN s.number > 0 AND NOT s.missed THEN s.number END, s.at, CASE WHEN s.missed THEN 1 ELSE 0 END,
    CASE WHEN s.missed THEN 'no node was running' ELSE '' END
FROM (
    SELECT 1 + i % ({jobs} / 10) AS schedule_id, i - n.older AS number, i % 9973 = 0 AS missed,
        CASE WHEN i > n.older THEN now() - (10 * {jobs}::bigint - i) * (interval '20 hours' / n.finished)
            ELSE now() - interval '29 days' + i * (interval '28 days' / n.older) END AS at
    FROM (SELECT {jobs} * 3 / 4 AS finished, 10 * {jobs}::bigint - {jobs} * 3 / 4 AS older) AS n, generate_series(1, 10 * {jobs}::bigint) AS i
) AS s;

INSERT INTO hourbell.history (id, run_at, created_at, started_at, finished_at, slot, schedule_id, token, timeout_ns, priority, state, attempt, max_attempts,
    on_loss, origin, queue, kind, args, reason, noted, batch)
SELECT i, h.at, h.at, h.at, h.at + interval '20 milliseconds', h.at, 1 + (i + 10 * {jobs}::bigint - n.finished) % ({jobs} / 10), i, 0, 5, h.state, 1, 25,
    0, 1, 'queue ' || i % 20, CASE WHEN i % ({jobs} / 10) = 7 THEN 'rare' ELSE 'kind ' || i % 50 END,
    '{"number":' || i || ',"text":"the quick brown fox"}', CASE WHEN h.state = 4 THEN 'exit code 1' ELSE '' END, true, CASE WHEN i <= {jobs} / 10 THEN 1 + i / 1000 END
FROM (SELECT {jobs} * 3 / 4 AS finished) AS n, generate_series(1, {jobs} * 3 / 4) AS i,
    LATERAL (SELECT now() - (n.finished - i) * (interval '20 hours' / n.finished) AS at, CASE WHEN i % 4999 = 0 THEN 4 ELSE 3 END AS state) AS h;

INSERT INTO hourbell.attempt (job_id, token, started_at, finished_at, attempt, error, trace, output, outcome)
SELECT id, token, started_at, finished_at, 1, reason, '', 'the last line', 1 FROM hourbell.history WHERE state = 4;

INSERT INTO hourbell.job (id, run_at, created_at, timeout_ns, priority, state, attempt, max_attempts, on_loss, origin, queue, kind, args, group_name)
SELECT i, now() + interval '10 days' + i * interval '1 second', now(), 0, 1 + i % 9, CASE WHEN i % 100 = 0 THEN 1 ELSE 0 END, CASE WHEN i % 1999 = 0 THEN 1 ELSE 0 END, 25,
    0, 0, 'queue ' || i % 20, 'kind ' || i % 50, '{"number":' || i || ',"text":"the quick brown fox"}', CASE WHEN i % 10 = 0 THEN 'group ' || i % 200 END
FROM generate_series({jobs} * 3 / 4 + 1, {jobs}) AS i;

SELECT setval(pg_get_serial_sequence('hourbell.job', 'id'), {jobs}), setval(pg_get_serial_sequence('hourbell.batch', 'id'), {jobs} / 10000 + 1),
    setval('hourbell.token', {jobs});

INSERT INTO hourbell.batch (id, created_at) SELECT i, now() - interval '20 hours' FROM generate_series(1, {jobs} / 10000 + 1) AS i;

INSERT INTO hourbell.calendar (name, revision, definition, updated_at)
SELECT 'calendar ' || i, 1, m.definition, now() FROM (SELECT definition FROM hourbell.calendar WHERE name = 'model') AS m, generate_series(1, {jobs} / 1000) AS i;

INSERT INTO hourbell.calendar_use (calendar, schedule_id) SELECT 'calendar ' || i % 100, i FROM generate_series(1, {jobs} / 10, 10) AS i;

INSERT INTO hourbell.lock (name, lock_until, locked_at, locked_by) SELECT 'lock ' || i, '2000-01-01', '2000-01-01', 'host' FROM generate_series(1, {jobs} / 100) AS i;

INSERT INTO hourbell.node (name, version, queues, kinds, lease, started_at, seen_at, ended_at)
SELECT 'host ' || i, '', '{default}', '{command}', interval '15 seconds', now() - interval '2 hours', now() - interval '1 hour', now() - interval '1 hour' FROM generate_series(1, 100) AS i;

INSERT INTO hourbell.audit (at, actor, source, action, count, detail)
SELECT now() - i * interval '1 minute', 'user ' || i % 20, 'page', 'schedules pause', 1, '' FROM generate_series({jobs} / 10, 1, -1) AS i;

INSERT INTO hourbell.audit_subject (entry_id, place, kind, name) SELECT id, 0, 'schedule', 'team ' || id % 100 || '/schedule ' || id FROM hourbell.audit WHERE source = 'page';

INSERT INTO hourbell.event (tx, at, type, subjects)
SELECT 1, now() - i * interval '1 second', 3, ARRAY[{jobs} * 3 / 4 - i] FROM generate_series({jobs} / 20, 1, -1) AS i;
