-- statement findOldKeptJobs, given kept, returns id ended
-- statement findOldJobs, given aged, returns id ended
-- The oldest finished jobs of one state, or those with a retention of their own, that may be deleted. Jobs that hold their keys
-- stay, jobs of a batch that has live jobs, and predecessors of live jobs.
SELECT h.id, {micros(h.finished_at)} AS ended                                                            -- if aged
SELECT h.id, {micros(h.keep_until)} AS ended                                                             -- if kept
FROM hourbell_history AS h
WHERE h.state = :state AND h.own_keep = 0 AND h.finished_at < {at(:before)}                              -- if aged
WHERE h.keep_until < {at(:before)}                                                                       -- if kept
  AND (SELECT u.job_id FROM hourbell_key_hold AS u WHERE u.job_id = h.id AND u.until > {at(:now)} LIMIT 1) IS NULL
  AND (h.batch IS NULL OR (SELECT b.job_id FROM hourbell_job_rare AS b WHERE b.batch = h.batch LIMIT 1) IS NULL)
  AND (h.releases = 0 OR (SELECT d.id FROM hourbell_edge AS e STRAIGHT_JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = h.id LIMIT 1) IS NULL)
ORDER BY h.finished_at, h.id LIMIT :limit                                                                -- if aged
ORDER BY h.keep_until, h.id LIMIT :limit                                                                 -- if kept
