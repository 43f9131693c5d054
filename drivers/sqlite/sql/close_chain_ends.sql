-- statement CloseChainEnds
-- Accounts for the ends of schedules up to their marks.
UPDATE hourbell_chain_end AS e INDEXED BY hourbell_chain_end_open SET open = 0
WHERE e.open = 1 AND e.schedule_id IN (SELECT value FROM json_each(:ids))
  AND e.slot <= (SELECT s.mark FROM hourbell_schedule AS s WHERE s.id = e.schedule_id)
