-- shared statement insertEvents
-- Stores rows of the feed, if events are kept.
INSERT INTO hourbell_event (at, type, subjects, slots, counts, reasons)
SELECT :now, value ->> 'type', value ->> 'subjects', value ->> 'slots', value ->> 'counts', value ->> 'reasons'
FROM jsonb_each(:events)
WHERE EXISTS (SELECT 1 FROM hourbell_feed WHERE keep > 0)
