-- statement insertStep, takes id token name sort place program value now, returns at
-- Stores a result of a job that runs with a token, unless the job has a step of this name.
INSERT INTO {schema}.step (job_id, name, sort, place, version, value, waits, timed_out, at)
SELECT :id::bigint, :name::text, :sort::smallint, :place::integer, :program::integer, :value::text, false, false, j.at FROM (
	SELECT coalesce(:now::timestamptz, now()) AS at FROM {schema}.job WHERE id = :id AND running AND token = :token::bigint FOR UPDATE
) AS j
ON CONFLICT (job_id, name) DO NOTHING
RETURNING at
