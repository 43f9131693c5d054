-- statement MarkReleases
-- Lets the ends of live jobs leave rows in hourbell_release.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
SET j.releases = 1
WHERE j.releases = 0
