-- shared statement findPauses, returns subject name
-- The queues and the kinds that are paused.
SELECT subject, name FROM hourbell_pause WHERE subject IN (1, 2) AND (until IS NULL OR until > {at(:now)})
