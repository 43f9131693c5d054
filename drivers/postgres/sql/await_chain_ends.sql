-- statement awaitChainEnds, takes schedules
-- Makes schedules due at the first end for which they have not accounted.
UPDATE {schema}.schedule AS s
SET next_at = (SELECT e.slot FROM {schema}.chain_end AS e WHERE e.schedule_id = s.id AND e.open ORDER BY e.slot LIMIT 1)
WHERE s.id = ANY (:schedules::bigint[])
