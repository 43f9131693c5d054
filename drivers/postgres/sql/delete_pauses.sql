-- Deletes pauses that have ended and have no parked jobs.
DELETE FROM {schema}.pause AS p
WHERE p.subject = 0 AND p.name = ANY (:names::text[]) AND p.until <= coalesce(:now::timestamptz, now())
    AND NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.group_name = p.name AND j.state = -1)
