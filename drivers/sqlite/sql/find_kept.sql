-- statement FindKept, returns id until unlinked
-- Jobs among these that keep a row after their ends, although their kinds keep nothing, and until when: jobs that hold
-- their keys, and jobs with dependents that no step has linked yet.
SELECT u.job_id AS id, u.until, 0 AS unlinked
FROM json_each(:ids) AS o
CROSS JOIN hourbell_key_hold AS u ON u.job_id = o.value
WHERE u.until > :now
UNION ALL
SELECT j.id, :now, 1
FROM json_each(:ids) AS o
CROSS JOIN hourbell_job AS j ON j.id = o.value
WHERE j.releases = 0 AND EXISTS (SELECT 1 FROM hourbell_edge AS e WHERE e.on_id = j.id)
