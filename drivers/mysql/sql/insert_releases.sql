-- statement InsertReleases
-- Notes the ends of live jobs that have dependents, before they are deleted.
INSERT INTO hourbell_release (on_id, schedule_id, ended_at, state, reason)
SELECT j.id, CASE WHEN j.origin {sets_off} THEN j.schedule_id END, {at(:now)}, o.state, o.reason
FROM JSON_TABLE(:ends, '$[*]' COLUMNS (id BIGINT PATH '$.id', state TINYINT PATH '$.state', reason TEXT CHARACTER SET utf8mb4 PATH '$.reason')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE j.releases = 1
