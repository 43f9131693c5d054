-- statement findUniqueJobs, takes now kind unique_key, returns ids
-- The jobs that have some kinds and keys, in one row and in the order of the arrays: the
-- number of a live job, the number of a job that holds the key after its end as a
-- negative number, or 0 if there is none.
SELECT array_agg(coalesce(
    (SELECT j.id FROM {schema}.job AS j WHERE j.kind = k.kind AND j.unique_key = k.unique_key),
    (SELECT -u.job_id FROM {schema}.key_hold AS u WHERE u.kind = k.kind AND u.unique_key = k.unique_key AND u.until > coalesce(:now::timestamptz, now())),
    0) ORDER BY k.place)::text AS ids
FROM unnest(:kind::text[], :unique_key::text[]) WITH ORDINALITY AS k (kind, unique_key, place)
