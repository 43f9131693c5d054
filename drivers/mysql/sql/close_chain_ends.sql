-- statement CloseChainEnds
-- Accounts for the ends of schedules up to their marks.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS o
STRAIGHT_JOIN hourbell_schedule AS s FORCE INDEX (PRIMARY) ON s.id = o.id
STRAIGHT_JOIN hourbell_chain_end AS e FORCE INDEX (hourbell_chain_end_open) ON e.schedule_id = s.id AND e.open = 1 AND e.slot <= s.mark
SET e.open = 0
