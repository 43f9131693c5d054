-- statement findDecidedEdges, takes ids, returns id matched missed state reason
-- What is known of the decided edges of jobs: whether one has matched, and how the first
-- predecessor ended whose edge has not. Predecessors that were deleted do not count; a predecessor
-- that was retried since is as if it was cancelled, until its edge is open again.
SELECT j.id, EXISTS (SELECT FROM {schema}.edge AS e WHERE e.job_id = j.id AND e.state = 1 OFFSET 0) AS matched,
    coalesce(m.on_id, 0) AS missed, coalesce(h.state, 5) AS state, coalesce(h.reason, '') AS reason
FROM unnest(:ids::bigint[]) AS j (id)
LEFT JOIN LATERAL (
    SELECT e.on_id FROM {schema}.edge AS e
    WHERE e.job_id = j.id AND e.state = 2
        AND (EXISTS (SELECT FROM {schema}.history AS f WHERE f.id = e.on_id OFFSET 0) OR EXISTS (SELECT FROM {schema}.job AS l WHERE l.id = e.on_id OFFSET 0))
    ORDER BY e.on_id LIMIT 1) AS m ON true
LEFT JOIN {schema}.history AS h ON h.id = ANY (ARRAY[m.on_id])
