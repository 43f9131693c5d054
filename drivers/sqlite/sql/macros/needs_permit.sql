-- A limit of a kind or of keys concerns a job.
EXISTS (SELECT 1 FROM hourbell_job_limit AS t WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '')
    AND {in_scope(t.queue, t.kind, t.by_key, $1)})
