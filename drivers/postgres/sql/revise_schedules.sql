-- Gives schedules, which are locked, a new revision.
UPDATE {schema}.schedule SET revision = revision + 1 WHERE id = ANY ($1::bigint[])
