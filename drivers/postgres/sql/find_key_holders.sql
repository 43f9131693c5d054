-- statement findKeyHolders, takes now ids, returns id kind unique_key holder
-- Finished jobs whose key another job of their kind has, or holds after its end, and that
-- job.
SELECT id, kind, unique_key, holder
FROM (
    SELECT h.id, h.kind, h.unique_key, coalesce(
        (SELECT l.id FROM {schema}.job AS l WHERE l.kind = h.kind AND l.unique_key = h.unique_key),
        (SELECT u.job_id FROM {schema}.key_hold AS u
            WHERE u.kind = h.kind AND u.unique_key = h.unique_key AND u.job_id <> h.id AND u.until > coalesce(:now::timestamptz, now()))) AS holder
    FROM unnest(:ids::bigint[]) AS o (id), LATERAL (SELECT * FROM {schema}.history WHERE id = o.id) AS h
) AS found
WHERE holder IS NOT NULL
