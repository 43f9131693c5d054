-- statement updateSchedules, takes ids owners revisions definitions anchors marks next_ats paused_ats declared updated_ats deleted_ats paused_untils groups group_paused_ats group_paused_untils
-- Writes schedules, which are locked.
UPDATE {schema}.schedule AS s
SET owner = u.owner, revision = u.revision, definition = u.definition, group_name = u.group_name, anchor = u.anchor, mark = u.mark, next_at = u.next_at,
    paused_at = u.paused_at, paused_until = u.paused_until,
    group_paused_at = u.group_paused_at, group_paused_until = u.group_paused_until, paused_declared = u.paused_declared, updated_at = u.updated_at, deleted_at = u.deleted_at
FROM unnest(:ids::bigint[], :owners::text[], :revisions::bigint[], :definitions::text[], :anchors::timestamptz[], :marks::timestamptz[], :next_ats::timestamptz[], :paused_ats::timestamptz[],
    :declared::boolean[], :updated_ats::timestamptz[], :deleted_ats::timestamptz[], :paused_untils::timestamptz[], :groups::text[],
    :group_paused_ats::timestamptz[], :group_paused_untils::timestamptz[])
    AS u (id, owner, revision, definition, anchor, mark, next_at, paused_at, paused_declared, updated_at, deleted_at, paused_until, group_name, group_paused_at, group_paused_until)
WHERE s.id = u.id
