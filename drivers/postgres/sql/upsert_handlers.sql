-- statement upsertHandlers, takes name events kind group_name job now
-- Stores a handler.
INSERT INTO {schema}.handler (name, events, kind, group_name, job, updated_at)
VALUES (:name::text, :events::smallint, :kind::text, :group_name::text, :job::text, coalesce(:now::timestamptz, now()))
ON CONFLICT (name) DO UPDATE
SET events = excluded.events, kind = excluded.kind, group_name = excluded.group_name, job = excluded.job, updated_at = excluded.updated_at
