-- Up to when the schedules with these names have fired early; deleted schedules too.
SELECT max(s.mark) AS fired_to
FROM json_each(:names) AS o CROSS JOIN hourbell_schedule AS s ON s.name = o.value
WHERE s.mark > :now AND s.mark <= :most
