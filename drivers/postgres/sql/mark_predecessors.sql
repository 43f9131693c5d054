-- Lets the ends of jobs of schedules, which are locked, leave rows in release, if a schedule
-- follows them. Returns the schedules that change.
UPDATE {schema}.schedule AS s SET releases = true
WHERE s.name = ANY (:names::text[]) AND NOT s.releases
    AND EXISTS (SELECT FROM {schema}.chain AS c WHERE c.predecessor = s.name)
RETURNING s.id
