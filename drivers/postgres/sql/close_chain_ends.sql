-- statement closeChainEnds, takes schedules
-- Accounts for the ends of schedules up to their marks.
UPDATE {schema}.chain_end AS e SET open = false
FROM {schema}.schedule AS s
WHERE s.id = ANY (:schedules::bigint[]) AND e.schedule_id = s.id AND e.open AND e.slot <= s.mark
