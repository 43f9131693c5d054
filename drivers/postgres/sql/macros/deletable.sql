-- A finished job holds no key, has no live job in its batch, and is no predecessor of a live job.
(NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = $1.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0)
    AND NOT ($1.batch IS NOT NULL AND EXISTS (SELECT FROM {schema}.job AS b WHERE b.batch = $1.batch OFFSET 0))
    AND NOT ($1.releases AND EXISTS (SELECT FROM {schema}.edge AS e, LATERAL (
        SELECT FROM {schema}.job AS d WHERE d.id = ANY (ARRAY[e.job_id]) OFFSET 0) AS d WHERE e.on_id = $1.id OFFSET 0)))
