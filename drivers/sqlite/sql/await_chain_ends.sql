-- statement AwaitChainEnds
-- Makes schedules due at the first end for which they have not accounted.
UPDATE hourbell_schedule AS s
SET next_at = (SELECT min(e.slot) FROM hourbell_chain_end AS e WHERE e.schedule_id = s.id AND e.open = 1)
WHERE s.id IN (SELECT value FROM json_each(:ids))
