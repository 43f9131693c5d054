-- shared statement findReopenings, returns job_id open_edges any_of at_end matched missed latest
-- What is known of all edges of jobs. The end of a predecessor counts if its edge has a delay,
-- because without a delay the end is not later than now.
SELECT e.job_id, sum(e.state = 0) AS open_edges, max(e.any_of) AS any_of, max(e.at_end) AS at_end,
       max(e.state = 1) AS matched, max(e.state = 2) AS missed, max(h.finished_at + e.delay) AS latest
FROM json_each(:ids) AS o CROSS JOIN hourbell_edge AS e ON e.job_id = o.value
LEFT JOIN hourbell_history AS h ON h.id = e.on_id AND e.state = 1 AND e.delay > 0
GROUP BY e.job_id
