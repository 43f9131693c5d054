-- The live jobs that have some kinds and keys, in one row and in the order of the
-- arrays; 0: there is none.
SELECT array_agg(coalesce((SELECT j.id FROM {schema}.job AS j WHERE j.kind = k.kind AND j.unique_key = k.unique_key), 0) ORDER BY k.place)::text AS ids
FROM unnest(:kind::text[], :unique_key::text[]) WITH ORDINALITY AS k (kind, unique_key, place)
