-- Notes that schedules, which are locked, fail again after they were well.
UPDATE {schema}.failing SET since = coalesce($1::timestamptz, now()) WHERE schedule_id = ANY ($2::bigint[])
