-- statement MarkReleases
-- Lets the ends of live jobs leave rows in hourbell_release.
UPDATE hourbell_job SET releases = 1 WHERE id IN (SELECT value FROM json_each(:ids)) AND releases = 0
