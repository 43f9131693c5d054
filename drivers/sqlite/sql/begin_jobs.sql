-- statement BeginJobs
-- Records that claims of a node may begin.
UPDATE hourbell_job SET begun = 1
WHERE id IN (SELECT value ->> 'id' FROM jsonb_each(:claims)) AND state = 2 AND node = :node
  AND (id, token) IN (SELECT value ->> 'id', value ->> 'token' FROM jsonb_each(:claims))
