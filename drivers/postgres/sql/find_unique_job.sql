-- The living job of a kind with a key.
SELECT id FROM {schema}.job WHERE kind = $1::text AND unique_key = $2::text
