-- statement upsertPauses, takes subject name paused_at until reason actor
-- Stores a pause.
INSERT INTO {schema}.pause (subject, name, paused_at, until, reason, actor)
VALUES (:subject::smallint, :name::text, :paused_at::timestamptz, :until::timestamptz, :reason::text, :actor::text)
ON CONFLICT (subject, name) DO UPDATE
SET paused_at = excluded.paused_at, until = excluded.until, reason = excluded.reason, actor = excluded.actor
