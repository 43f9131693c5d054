-- Keeps calendars from being changed or deleted while schedules come to name
-- them, and returns those that are there.
SELECT name FROM {schema}.calendar WHERE name = ANY (:names::text[]) ORDER BY name FOR KEY SHARE
