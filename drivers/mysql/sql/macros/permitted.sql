-- A job that holds its permits, or needs none.
($1.permits IS NOT NULL OR NOT EXISTS (SELECT 1 FROM hourbell_job_limit AS t
    WHERE t.ended_at IS NULL AND (t.by_key <> 0 OR t.kind <> _utf8mb4'') AND {in_scope(t.queue, t.kind, t.by_key, $1)}))
