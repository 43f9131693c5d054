-- statement FindKept, returns id until unlinked
-- Jobs among these that keep a row after their ends, although their kinds keep nothing, and until when: jobs that hold
-- their keys, and jobs with dependents that no step has linked yet.
(SELECT u.job_id AS id, {micros(u.until)} AS until, FALSE AS unlinked
FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS x) AS o
STRAIGHT_JOIN hourbell_key_hold AS u FORCE INDEX (hourbell_key_hold_job) ON u.job_id = o.id
WHERE u.until > {at(:now)}
{share})
UNION ALL
(SELECT j.id, :now, TRUE
FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS x) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.releases = 0 AND EXISTS (SELECT 1 FROM hourbell_edge AS e FORCE INDEX (PRIMARY) WHERE e.on_id = j.id))
