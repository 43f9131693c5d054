-- statement UpsertSchedules
-- Creates or changes schedules. The counter of revisions is locked, so that no other transaction creates them.
INSERT INTO hourbell_schedule (name, owner, revision, definition, group_name, anchor, mark, next_at, fired, paused_at, paused_until, group_paused_at, group_paused_until, paused_declared, created_at, updated_at, deleted_at)
VALUES
(:name, :owner, :revision, :definition, :group_name, {at(:anchor)}, {at(:mark)}, {at(:next_at)}, :fired, {at(:paused_at)}, {at(:paused_until)}, {at(:group_paused_at)}, {at(:group_paused_until)}, :paused_declared, {at(:created_at)}, {at(:updated_at)}, {at(:deleted_at)})
ON DUPLICATE KEY UPDATE
  owner = VALUES(owner), revision = VALUES(revision), definition = VALUES(definition), group_name = VALUES(group_name), anchor = VALUES(anchor),
  mark = VALUES(mark), next_at = VALUES(next_at), paused_at = VALUES(paused_at), paused_until = VALUES(paused_until), group_paused_at = VALUES(group_paused_at), group_paused_until = VALUES(group_paused_until), paused_declared = VALUES(paused_declared), updated_at = VALUES(updated_at),
  deleted_at = VALUES(deleted_at)
