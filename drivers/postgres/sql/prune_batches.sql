-- Deletes the oldest finished jobs of noted batches, failed ones or others, with
-- their attempts: those of whole batches, and the first of one more. Returns how
-- many went, and how many were looked at.
WITH old AS (
    SELECT o.finished_at, o.id, $3::bigint - o.earlier AS room
    FROM (
        SELECT c.finished_at, c.id, sum(c.jobs) OVER (ORDER BY c.finished_at, c.id) - c.jobs AS earlier
        FROM (
            SELECT finished_at, id, jobs FROM {schema}.history_batch
            WHERE failed = $4::boolean AND finished_at < coalesce($1::timestamptz, now()) - $2::bigint * interval '1 microsecond'
            ORDER BY failed, finished_at, id LIMIT $3::bigint
        ) AS c
    ) AS o
    WHERE o.earlier < $3::bigint
), held AS (
    SELECT b.finished_at, b.id, b.jobs, b.ids, old.room::integer AS room
    FROM old JOIN {schema}.history_batch AS b ON b.failed = $4::boolean AND b.finished_at = old.finished_at AND b.id = old.id
    FOR UPDATE OF b SKIP LOCKED
), used AS (
    DELETE FROM {schema}.history_batch AS b USING held
    WHERE b.failed = $4::boolean AND b.finished_at = held.finished_at AND b.id = held.id AND held.jobs <= held.room
), cut AS (
    UPDATE {schema}.history_batch AS b SET jobs = held.jobs - held.room, ids = held.ids[held.room + 1:]
    FROM held
    WHERE b.failed = $4::boolean AND b.finished_at = held.finished_at AND b.id = held.id AND held.jobs > held.room
), gone AS (
    DELETE FROM {schema}.history
    WHERE id = ANY (ARRAY(SELECT unnest(held.ids[:held.room]) FROM held)) AND noted AND (state = 4) = $4::boolean
        AND finished_at < coalesce($1::timestamptz, now()) - $2::bigint * interval '1 microsecond'
    RETURNING id
), attempts AS (
    DELETE FROM {schema}.attempt WHERE job_id IN (SELECT id FROM gone)
)
SELECT (SELECT count(*) FROM gone), (SELECT coalesce(sum(least(jobs, room)), 0) FROM held)
