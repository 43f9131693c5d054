-- Locks living jobs in the order of their numbers.
SELECT id, node, running, state = 1, run_at > coalesce($2::timestamptz, now()) FROM {schema}.job WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE
