-- Locks the schedules of jobs that are to wait, in the order of their numbers:
-- nobody fires them or adds such jobs meanwhile.
SELECT id FROM {schema}.schedule WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE
