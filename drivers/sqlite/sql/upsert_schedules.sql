-- statement UpsertSchedules
-- Creates or changes schedules.
INSERT INTO hourbell_schedule (name, owner, revision, definition, group_name, anchor, mark, next_at, fired, paused_at, paused_until, group_paused_at, group_paused_until, paused_declared, created_at, updated_at, deleted_at)
SELECT value ->> 'name', value ->> 'owner', value ->> 'revision',
       coalesce(substr(:bytes, value ->> 'definition_at', value ->> 'definition_len'), x''), value ->> 'group_name',
       value ->> 'anchor', value ->> 'mark', value ->> 'next_at', value ->> 'fired', value ->> 'paused_at', value ->> 'paused_until', value ->> 'group_paused_at', value ->> 'group_paused_until', value ->> 'paused_declared', value ->> 'created_at',
       value ->> 'updated_at', value ->> 'deleted_at'
FROM jsonb_each(:rows)
WHERE true -- so that ON is not parsed as a join condition
ON CONFLICT (name) DO UPDATE SET
  owner = excluded.owner, revision = excluded.revision, definition = excluded.definition, group_name = excluded.group_name, anchor = excluded.anchor,
  mark = excluded.mark, next_at = excluded.next_at, paused_at = excluded.paused_at, paused_until = excluded.paused_until, group_paused_at = excluded.group_paused_at, group_paused_until = excluded.group_paused_until, paused_declared = excluded.paused_declared, updated_at = excluded.updated_at,
  deleted_at = excluded.deleted_at
