-- statement deletePauses, takes now paused_subjects names
-- Deletes pauses that have ended and have no parked jobs. Only jobs of groups are parked.
DELETE FROM {schema}.pause AS p
USING unnest(:paused_subjects::smallint[], :names::text[]) AS g (subject, name)
WHERE p.subject = g.subject AND p.name = g.name AND p.until <= coalesce(:now::timestamptz, now())
    AND (p.subject <> 0 OR NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.group_name = p.name AND j.state = -1))
