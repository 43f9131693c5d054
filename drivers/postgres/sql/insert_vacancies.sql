-- statement insertVacancies, takes limits done_tos
-- Inserts that all lanes of limits have to be looked at, after a number.
INSERT INTO {schema}.vacancy (limit_id, done_to, lanes)
SELECT o.limit_id, o.done_to, '{}' FROM unnest(:limits::bigint[], :done_tos::bigint[]) AS o (limit_id, done_to)
