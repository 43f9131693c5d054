-- statement lockIdleLanes, takes limit, returns id
-- Locks lanes that hold no permits and no starts, in which no job waits, and that are not to be looked at. Lanes of limits
-- that have ended, and lanes that other transactions have locked, are left out.
SELECT id FROM {schema}.lane WHERE used <= 0 AND starts <= 0 AND NOT waiting AND look_at IS NULL
    AND limit_id NOT IN (SELECT t.id FROM {schema}.job_limit AS t WHERE t.ended_at IS NOT NULL)
ORDER BY id LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
