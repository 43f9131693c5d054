-- The living job of a kind with a key.
SELECT id FROM {schema}.job WHERE kind = :kind::text AND unique_key = :unique::text
