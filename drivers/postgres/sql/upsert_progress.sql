-- statement upsertProgress, takes now ids tokens done total notes stuck
-- Stores the progress of claims, in the order of the jobs' numbers, of jobs that still have
-- the tokens of the claims, also of finished jobs.
INSERT INTO {schema}.progress (job_id, token, at, done, total, note, stuck)
SELECT p.id, p.token, coalesce(:now::timestamptz, now()), p.done, p.total, p.note,
    CASE WHEN p.stuck > 0 THEN coalesce(:now::timestamptz, now()) - p.stuck * interval '1 microsecond' END
FROM unnest(:ids::bigint[], :tokens::bigint[], :done::bigint[], :total::bigint[], :notes::text[], :stuck::bigint[])
    AS p (id, token, done, total, note, stuck)
WHERE EXISTS (SELECT FROM {schema}.job AS j WHERE j.id = ANY (ARRAY[p.id]) AND j.token = ANY (ARRAY[p.token]))
    OR EXISTS (SELECT FROM {schema}.history AS h WHERE h.id = ANY (ARRAY[p.id]) AND h.token = ANY (ARRAY[p.token]))
ORDER BY p.id
ON CONFLICT (job_id) DO UPDATE
SET token = excluded.token, at = excluded.at, done = excluded.done, total = excluded.total, note = excluded.note, stuck = excluded.stuck
