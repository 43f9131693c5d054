-- shared statement findReopenings, returns job_id open_edges any_of at_end matched missed latest
-- What is known of all edges of jobs. The end of a predecessor counts if its edge has a delay,
-- because without a delay the end is not later than now.
SELECT e.job_id, sum(e.state = 0) AS open_edges, max(e.any_of) AS any_of, max(e.at_end) AS at_end,
       max(e.state = 1) AS matched, max(e.state = 2) AS missed, {micros(max(h.finished_at + INTERVAL e.delay MICROSECOND))} AS latest
FROM hourbell_edge AS e FORCE INDEX (hourbell_edge_job)
LEFT JOIN hourbell_history AS h ON h.id = e.on_id AND e.state = 1 AND e.delay > 0
WHERE e.job_id IN (:ids)
GROUP BY e.job_id
