-- statement findReopenings, takes ids, returns job_id open_edges any_of at_end matched missed latest
-- What is known of all edges of jobs. The end of a predecessor counts if its edge has a delay,
-- because without a delay the end is not later than now.
SELECT e.job_id, count(*) FILTER (WHERE e.state = 0) AS open_edges, bool_or(e.any_of) AS any_of, bool_or(e.at_end) AS at_end,
    bool_or(e.state = 1) AS matched, bool_or(e.state = 2) AS missed,
    max(h.finished_at + e.delay_us * interval '1 microsecond') AS latest
FROM {schema}.edge AS e LEFT JOIN {schema}.history AS h ON h.id = e.on_id AND e.state = 1 AND e.delay_us > 0
WHERE e.job_id = ANY (:ids::bigint[])
GROUP BY e.job_id ORDER BY e.job_id
