-- statement claimJobs, given due, takes now node queue limit begin kinds low_run_ats low_ids limited limit_revision exact_kinds exact_jobs exact_digests, returns claimedColumns
-- statement takeJobs, given chosen, takes now node begin ids new_permits, returns claimedColumns
-- Gives jobs to a node. The rows are returned in no order. Of more than :begin jobs the first :begin in the order of their start may
-- begin; begin_jobs adds to them.
-- takeJobs takes jobs that the transaction has locked; :new_permits has permits, by number, of jobs that hold none, which they hold from then on.
-- claimJobs takes up to :limit due jobs of a queue without limits of kinds and keys. The scan takes one priority after the other, each
-- from its low-water cursor, and stops as soon as it has enough jobs: it neither sorts nor reads jobs that are due later. ctid is safe under
-- FOR UPDATE in the same statement only. It takes no job if the node is gone, the queue is paused, a pause has ended, because parked jobs
-- have to be made claimable first, a limit of a kind or of keys concerns the queue, the newest limit of the whole queue :limited is not
-- the limit that the caller knows, or a worker has asked that nothing of the queue :limited starts.
WITH claimed AS (
    UPDATE {schema}.job
    SET running = true, node = :node::bigint, attempt = attempt + 1, started_at = coalesce(:now::timestamptz, now()),
        token = greatest(nextval('{schema_text}.token'), token + 1)
        , permits = coalesce(permits, (:new_permits::jsonb ->> id::text)::bigint[])                                    -- if chosen
    WHERE id = ANY (:ids::bigint[])                                                                                -- if chosen
    WHERE ctid = ANY (ARRAY(                                                                                       -- if due
        SELECT due.ctid                                                                                            -- if due
        FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL ( -- if due
            SELECT j.ctid FROM {schema}.job AS j                                                                   -- if due
            WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) > (m.run_at, m.id) -- if due
                AND j.run_at <= coalesce(:now::timestamptz, now()) AND {claimable(j)} AND j.losses < 2             -- if due
            ORDER BY j.run_at, j.id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED                                    -- if due
        ) AS due                                                                                                   -- if due
        WHERE EXISTS (SELECT FROM {schema}.heartbeat AS h WHERE h.node = :node::bigint)                            -- if due
            AND NOT EXISTS (SELECT FROM {schema}.pause AS p                                                        -- if due
                WHERE p.until <= coalesce(:now::timestamptz, now()) OR p.subject = 1 AND {in_queue(:queue::text, p.name)}) -- if due
            AND NOT EXISTS (SELECT FROM {schema}.job_limit AS t                                                    -- if due
                WHERE (t.by_key OR t.kind <> '') AND (t.queue = '' OR {in_queue(:queue::text, t.queue)}))          -- if due
            AND coalesce((SELECT max(l.revision) FROM {schema}.job_limit AS l                                      -- if due
                WHERE l.queue = :limited::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL), 0) = :limit_revision::bigint -- if due
            AND NOT EXISTS (SELECT FROM {schema}.job_limit AS l JOIN {schema}.lane AS n ON n.limit_id = l.id AND n.key = '' -- if due
                WHERE l.queue = :limited::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL AND n.not_before > coalesce(:now::timestamptz, now())) -- if due
        LIMIT :limit::bigint))                                                                                     -- if due
    RETURNING id, token, args, headers, attempt, origin, run_at, created_at, schedule_id, slot, losses, refunds, {spec_claimed}
), batch AS (
    INSERT INTO {schema}.lease (node, ids, begun)
    SELECT :node::bigint, array_agg(id), CASE WHEN count(*) > :begin::bigint
        THEN ARRAY(SELECT c.id FROM claimed AS c ORDER BY c.priority, c.run_at, c.id LIMIT :begin::bigint) END
    FROM claimed HAVING count(*) > 0
    RETURNING id
)
SELECT batch.id AS batch, c.id, c.token, c.args, c.headers, c.attempt, c.origin, c.run_at, c.created_at, c.schedule_id, s.name AS schedule_name,
    c.slot, c.losses, c.refunds, {c.spec_claimed}
FROM batch CROSS JOIN claimed AS c LEFT JOIN {schema}.schedule AS s ON s.id = c.schedule_id
