-- Finished jobs whose key a live job of their kind has, and that job.
SELECT h.id, j.id AS holder
FROM unnest(:ids::bigint[]) AS o (id), LATERAL (SELECT * FROM {schema}.history WHERE id = o.id) AS h,
    LATERAL (SELECT l.id FROM {schema}.job AS l WHERE l.kind = h.kind AND l.unique_key = h.unique_key LIMIT 1) AS j
