-- Records of slots, newest first. A condition that is null does not count.
SELECT l.id, l.schedule_id, s.name, l.slot, l.last, l.count, l.outcome, l.reason, l.job_id, l.recorded_at
FROM (
    SELECT * FROM {schema}.slot
    WHERE ($1::text IS NULL OR schedule_id = (SELECT id FROM {schema}.schedule WHERE name = $1))
        AND ($2::timestamptz IS NULL OR last >= $2)
        AND ($3::timestamptz IS NULL OR slot < $3)
        AND ($4::timestamptz IS NULL OR (slot, id) < ($4, $5::bigint))
    ORDER BY slot DESC, id DESC LIMIT $6::bigint
) AS l LEFT JOIN {schema}.schedule AS s ON s.id = l.schedule_id
ORDER BY l.slot DESC, l.id DESC
