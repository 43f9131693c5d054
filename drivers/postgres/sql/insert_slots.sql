-- Records slots that make no job.
INSERT INTO {schema}.slot (recorded_at, schedule_id, slot, last, count, outcome, reason)
SELECT coalesce($1::timestamptz, now()), new.*
FROM unnest($2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::bigint[], $6::smallint[], $7::text[]) AS new
