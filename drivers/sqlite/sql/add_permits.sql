-- shared statement addPermits
-- Gives running jobs a further permit each.
UPDATE hourbell_job AS j SET permits = json_insert(coalesce(j.permits, '[]'), '$[#]', o.value ->> 'lane')
FROM jsonb_each(:jobs) AS o WHERE j.id = o.value ->> 'id'
