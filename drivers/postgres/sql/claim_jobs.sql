-- statement claimAgedJobs, given plain aged unlimited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for, returns claimedColumns
-- statement limitedAgedJobs, given plain aged limited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for at_once new_permits, returns claimedColumns
-- statement claimExactAgedJobs, given exact plain aged unlimited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for exact_kinds exact_jobs exact_digests, returns claimedColumns
-- statement limitedExactAgedJobs, given exact plain aged limited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for at_once new_permits exact_kinds exact_jobs exact_digests, returns claimedColumns
-- statement claimExactJobs, given exact plain unlimited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision exact_kinds exact_jobs exact_digests, returns claimedColumns
-- statement limitedExactJobs, given exact plain limited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits exact_kinds exact_jobs exact_digests, returns claimedColumns
-- statement claimExactSuspects, given exact suspects unlimited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision exact_kinds exact_jobs exact_digests, returns claimedColumns
-- statement limitedExactSuspects, given exact suspects limited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits exact_kinds exact_jobs exact_digests, returns claimedColumns
-- statement claimJobs, given plain unlimited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision, returns claimedColumns
-- statement limitedJobs, given plain limited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits, returns claimedColumns
-- statement claimSuspects, given suspects unlimited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision, returns claimedColumns
-- statement limitedSuspects, given suspects limited, takes now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits, returns claimedColumns
-- Claims up to :limit due jobs whose kind is among :kinds, or whose kind and digest of args are
-- among the given pairs; each kind of these pairs is also given once separately, so that
-- only jobs of these kinds are digested. The scan takes one priority after the other,
-- each from its low-water cursor, and stops as soon as it has enough jobs: it neither
-- sorts nor reads jobs that are due later. ctid is safe under FOR UPDATE in the
-- same statement only. A node that is gone gets no job. The rows are returned in no order. Of
-- more than :begin jobs the first :begin in the order of their start may begin; begin_jobs adds
-- to them. Jobs of paused groups, kinds and keys are left out, and a paused queue gives no job. If a
-- pause has ended, no job is claimed unless :despite_ends, because parked jobs have to be made
-- claimable first. If the newest limit of the whole queue :limited is not the limit that the caller knows, no job is claimed.
-- The variant for a queue that no limit concerns whose permits jobs hold claims no job
-- if such a limit does concern it. The other variant leaves out jobs that need permits and hold none, unless :new_permits has permits for
-- them, which they hold from then on, and claims no job if a rate is among these limits, unless :at_once. The variant for aged jobs takes
-- the jobs that have been due for longest, of the jobs that have been due for :due_for microseconds: it locks up to :limit such jobs of each
-- priority, and takes :limit of them. While a worker has asked that nothing of the whole queue :limited starts, no job is claimed.
WITH claimed AS (
    UPDATE {schema}.job
    SET running = true, node = :node::bigint, attempt = attempt + 1, started_at = coalesce(:now::timestamptz, now()),
        token = greatest(nextval('{schema_text}.token'), token + 1)
        , permits = coalesce(permits, (:new_permits::jsonb ->> id::text)::bigint[])                                        -- if limited
    WHERE ctid = ANY (ARRAY(
        SELECT due.ctid
        FROM unnest(:low_run_ats::timestamptz[], :low_ids::bigint[]) WITH ORDINALITY AS m (run_at, id, priority), LATERAL (
            SELECT j.ctid
                , j.run_at, j.id                                                                                   -- if aged
            FROM {schema}.job AS j
            WHERE j.state = 0 AND j.queue = :queue::text AND j.priority = m.priority AND (j.run_at, j.id) > (m.run_at, m.id)
                AND j.run_at <= coalesce(:now::timestamptz, now())
                    - :due_for::bigint * interval '1 microsecond'                                                  -- if aged
                AND NOT j.running AND (j.kind = ANY (:kinds::text[])
                    OR j.kind = ANY (:exact_kinds::text[])                                                                   -- if exact
                        AND (j.kind, sha256(convert_to(j.args, 'UTF8'))) IN (                                      -- if exact
                            SELECT e.kind, e.digest FROM unnest(:exact_jobs::text[], :exact_digests::bytea[]) AS e (kind, digest))    -- if exact
                )
                AND j.losses < 2                                                                                   -- if plain
                AND j.losses >= 2                                                                                  -- if suspects
                AND j.kind <> ALL (ARRAY(SELECT p.name FROM {schema}.pause AS p
                    WHERE p.subject = 2 AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
                AND (j.group_name IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
                    WHERE p.subject = 0 AND p.name = j.group_name AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
                AND (j.job_key IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
                    WHERE p.subject = 3 AND p.name = j.job_key AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
                AND (j.permits IS NOT NULL OR :new_permits::jsonb ? j.id::text OR NOT EXISTS (SELECT FROM {schema}.job_limit AS t -- if limited
                    WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, j)}))                 -- if limited
            ORDER BY j.run_at, j.id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
        ) AS due
        WHERE EXISTS (SELECT FROM {schema}.heartbeat AS h WHERE h.node = :node::bigint)
            AND NOT EXISTS (SELECT FROM {schema}.pause AS p
                WHERE CASE WHEN p.until <= coalesce(:now::timestamptz, now()) THEN NOT :despite_ends::boolean ELSE p.subject = 1 AND {in_queue(:queue::text, p.name)} END)
            AND coalesce((SELECT max(l.revision) FROM {schema}.job_limit AS l
                WHERE l.queue = :limited::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL), 0) = :limit_revision::bigint
            AND NOT EXISTS (SELECT FROM {schema}.job_limit AS l JOIN {schema}.lane AS n ON n.limit_id = l.id AND n.key = ''
                WHERE l.queue = :limited::text AND l.kind = '' AND NOT l.by_key AND l.ended_at IS NULL AND n.not_before > coalesce(:now::timestamptz, now()))
            AND (:at_once::boolean OR NOT EXISTS (SELECT FROM {schema}.job_limit AS t                               -- if limited
                WHERE t.rate > 0 AND t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND (t.queue = '' OR {in_queue(:queue::text, t.queue)}))) -- if limited
            AND NOT EXISTS (SELECT FROM {schema}.job_limit AS t                                                    -- if unlimited
                WHERE (t.by_key OR t.kind <> '') AND (t.queue = '' OR {in_queue(:queue::text, t.queue)}))          -- if unlimited
        ORDER BY due.run_at, due.id                                                                                -- if aged
        LIMIT :limit::bigint))
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
