-- Raises the sequences of tokens and of nodes above their own last values and above
-- those that were reported ($1, $2), by $3 and $4.
SELECT setval('{schema_text}.token', greatest((SELECT last_value FROM {schema}.token), $1::bigint) + $3::bigint),
    setval('{schema_text}.node_id_seq', greatest((SELECT last_value FROM {schema}.node_id_seq), $2::bigint) + $4::bigint)
