-- statement insertSchedules, takes now owner names definitions paused groups group_paused_ats group_paused_untils, returns id
-- Creates schedules. A name that is missing in the answer was created concurrently.
INSERT INTO {schema}.schedule (name, owner, revision, definition, group_name, anchor, mark, next_at, paused_at, group_paused_at, group_paused_until, paused_declared, created_at, updated_at)
SELECT new.name, :owner::text, 1, new.definition, new.group_name, :now::timestamptz, :now::timestamptz, :now::timestamptz,
    CASE WHEN new.paused THEN :now::timestamptz END, new.group_paused_at, new.group_paused_until, new.paused, :now::timestamptz, :now::timestamptz
FROM unnest(:names::text[], :definitions::text[], :paused::boolean[], :groups::text[],
    :group_paused_ats::timestamptz[], :group_paused_untils::timestamptz[])
    AS new (name, definition, paused, group_name, group_paused_at, group_paused_until)
ON CONFLICT (name) DO NOTHING
RETURNING id
