-- Deletes limits that have ended and have no lanes. A limit that another transaction has locked is left.
DELETE FROM {schema}.job_limit WHERE id = ANY (ARRAY(
    SELECT t.id FROM {schema}.job_limit AS t
    WHERE t.ended_at IS NOT NULL AND NOT EXISTS (SELECT FROM {schema}.lane AS l WHERE l.limit_id = t.id) FOR UPDATE SKIP LOCKED))
