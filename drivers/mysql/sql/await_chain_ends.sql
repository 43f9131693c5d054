-- statement AwaitChainEnds
-- Makes schedules due at the first end for which they have not accounted.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (PRIMARY) ON s.id = o.id
SET s.next_at = (SELECT min(e.slot) FROM hourbell_chain_end AS e FORCE INDEX (hourbell_chain_end_open) WHERE e.schedule_id = s.id AND e.open = 1)
