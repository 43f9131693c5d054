-- statement findFiredTo, takes now names most_ahead, returns fired_to
-- Up to when the schedules with these names have fired early, which is at most
-- :most_ahead microseconds; deleted schedules too.
SELECT max(mark) AS fired_to FROM {schema}.schedule
WHERE name = ANY (:names::text[]) AND mark > coalesce(:now::timestamptz, now())
    AND mark <= coalesce(:now::timestamptz, now()) + :most_ahead::bigint * interval '1 microsecond'
