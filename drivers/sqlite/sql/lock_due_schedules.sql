-- statement LockDueSchedules, returns id revision mark next_at paused_at releases
-- Schedules that are due by :until, as they are now.
SELECT s.id, s.revision, s.mark, s.next_at,
       max(coalesce(s.paused_at, s.group_paused_at), coalesce(s.group_paused_at, s.paused_at)) AS paused_at, s.releases
FROM json_each(:ids) AS o
CROSS JOIN hourbell_schedule AS s ON s.id = o.value
WHERE s.deleted_at IS NULL AND +s.next_at <= :until
