-- statement checkRecorded, takes ids tokens states forgets, returns id token
-- The outcomes, of jobs that are not live, that differ from what history has. An outcome
-- that forgets its job is recorded if there is no such job.
SELECT o.id, o.token
FROM unnest(:ids::bigint[], :tokens::bigint[], :states::smallint[], :forgets::boolean[]) AS o (id, token, state, forgets)
WHERE NOT EXISTS (SELECT FROM {schema}.history AS h WHERE h.id = o.id AND h.token = o.token AND h.state = o.state)
    AND NOT (o.forgets
        AND NOT EXISTS (SELECT FROM {schema}.history AS h WHERE h.id = o.id)
        AND NOT EXISTS (SELECT FROM {schema}.job AS j WHERE j.id = ANY (ARRAY[o.id])))
