-- statement InsertCalendarUses
-- Records which calendars schedules name.
INSERT INTO hourbell_calendar_use (calendar, schedule_id)
SELECT o.calendar, s.id
FROM JSON_TABLE(:uses, '$[*]' COLUMNS (calendar VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.calendar', schedule VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.schedule')) AS o
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (hourbell_schedule_name) ON s.name = o.schedule
