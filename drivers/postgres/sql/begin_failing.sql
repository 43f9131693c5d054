-- Notes that schedules fail, in the order of $2. One that somebody else has
-- noted meanwhile stays as it is.
INSERT INTO {schema}.failing (schedule_id, since)
SELECT new.id, coalesce($1::timestamptz, now()) FROM unnest($2::bigint[]) AS new (id)
ON CONFLICT DO NOTHING
