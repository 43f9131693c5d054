-- Which schedules fail.
--
-- A row: the schedule fails since then. It is apart from schedule because the
-- ends of jobs write it, which hold jobs: they must not wait for schedules, which
-- are locked before jobs.
CREATE TABLE {schema}.failing (
    schedule_id bigint PRIMARY KEY,
    since       timestamptz NOT NULL
);
