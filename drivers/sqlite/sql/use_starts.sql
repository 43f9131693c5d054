-- shared statement useStarts
-- Takes from jobs the starts that they hold.
UPDATE hourbell_job AS j SET permits = o.value ->> 'permits' FROM jsonb_each(:jobs) AS o WHERE j.id = o.value ->> 'id'
