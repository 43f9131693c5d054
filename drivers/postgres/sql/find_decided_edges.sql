-- What is known of the decided edges of jobs: whether one has matched, and how the first
-- predecessor ended whose edge has not. A predecessor that was deleted counts as cancelled.
SELECT j.id, EXISTS (SELECT FROM {schema}.edge AS e WHERE e.job_id = j.id AND e.state = 1 OFFSET 0) AS matched,
    coalesce(m.on_id, 0) AS missed, coalesce(h.state, 5) AS state, coalesce(h.reason, '') AS reason
FROM unnest(:ids::bigint[]) AS j (id)
LEFT JOIN LATERAL (SELECT e.on_id FROM {schema}.edge AS e WHERE e.job_id = j.id AND e.state = 2 ORDER BY e.on_id LIMIT 1) AS m ON true
LEFT JOIN {schema}.history AS h ON h.id = ANY (ARRAY[m.on_id])
