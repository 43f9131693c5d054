-- A job needs permits, holds none, and no job waits in a lane in which it needs a permit.
permits IS NULL AND {needs_permit(hourbell_job)} AND NOT EXISTS (
        SELECT 1 FROM hourbell_job_limit AS t CROSS JOIN hourbell_lane AS l ON l.limit_id = t.id AND l.key = iif(t.by_key, hourbell_job.job_key, '')
        WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, hourbell_job)} AND l.waiting)
