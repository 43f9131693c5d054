-- statement insertAttempts, takes now ids outcomes errors traces outputs printed most
-- Records attempts, once for each claim; but a record of a lost attempt is replaced. The
-- oldest records of a job are deleted, so that the job keeps :most. The jobs are locked.
WITH trimmed AS (
    DELETE FROM {schema}.attempt AS a
    USING unnest(:ids::bigint[]) AS o (id), LATERAL (
        SELECT t.token FROM {schema}.attempt AS t WHERE t.job_id = o.id ORDER BY t.token DESC OFFSET :most::bigint - 1 LIMIT 1
    ) AS last
    WHERE a.job_id = ANY (ARRAY[o.id]) AND a.token <= last.token
)
INSERT INTO {schema}.attempt AS a (job_id, token, node, started_at, finished_at, attempt, outcome, error, trace, output, printed)
SELECT j.id, j.token, j.node, j.started_at, coalesce(:now::timestamptz, now()), j.attempt, o.outcome, o.error, o.trace, o.output, o.printed
FROM unnest(:ids::bigint[], :outcomes::smallint[], :errors::text[], :traces::text[], :outputs::bytea[], :printed::bigint[]) AS o (id, outcome, error, trace, output, printed)
    JOIN {schema}.job AS j ON j.id = ANY (ARRAY[o.id])
ON CONFLICT (job_id, token) DO UPDATE
SET finished_at = excluded.finished_at, outcome = excluded.outcome, error = excluded.error, trace = excluded.trace, output = excluded.output, printed = excluded.printed
WHERE a.outcome = 6
