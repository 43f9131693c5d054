-- statement insertChain, takes predecessors names
-- Records which schedules follow which.
INSERT INTO {schema}.chain (predecessor, schedule_id)
SELECT e.predecessor, s.id
FROM unnest(:predecessors::text[], :names::text[]) AS e (predecessor, schedule) JOIN {schema}.schedule AS s ON s.name = e.schedule
