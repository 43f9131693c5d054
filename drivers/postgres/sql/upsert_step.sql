-- statement upsertStep, takes id name sort place program value open until timed_out at
-- Stores a step of a job.
INSERT INTO {schema}.step (job_id, name, sort, place, version, value, waits, until, timed_out, at)
VALUES (:id::bigint, :name::text, :sort::smallint, :place::integer, :program::integer, :value::text, :open::boolean, :until::timestamptz, :timed_out::boolean, :at::timestamptz)
ON CONFLICT (job_id, name) DO UPDATE
SET place = excluded.place, version = excluded.version, value = excluded.value, waits = excluded.waits, until = excluded.until, timed_out = excluded.timed_out, at = excluded.at
