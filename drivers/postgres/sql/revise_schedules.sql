-- statement reviseSchedules, takes schedules
-- Gives schedules, which are locked, their next revision.
UPDATE {schema}.schedule SET revision = revision + 1 WHERE id = ANY (:schedules::bigint[])
