-- The outcomes, of jobs that are not live, that differ from what history has.
SELECT o.id, o.token
FROM unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[]) AS o (id, token, state)
WHERE NOT EXISTS (SELECT FROM {schema}.history AS h WHERE h.id = o.id AND h.token = o.token AND h.state = o.state)
