-- A claim may take a job, which is ready and due: its kind is among :kinds, or its kind and the digest of its args
-- are among given pairs, and no pause concerns its kind, group or key. Each kind of the pairs is also given once in
-- :exact_kinds, so that only jobs of these kinds are digested.
NOT $1.running AND ($1.kind = ANY (:kinds::text[])
    OR $1.kind = ANY (:exact_kinds::text[]) AND ($1.kind, sha256(convert_to($1.args, 'UTF8'))) IN (
        SELECT e.kind, e.digest FROM unnest(:exact_jobs::text[], :exact_digests::bytea[]) AS e (kind, digest)))
    AND $1.kind <> ALL (ARRAY(SELECT p.name FROM {schema}.pause AS p WHERE p.subject = 2 AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
    AND ($1.group_name IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
        WHERE p.subject = 0 AND p.name = $1.group_name AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
    AND ($1.job_key IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
        WHERE p.subject = 3 AND p.name = $1.job_key AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
