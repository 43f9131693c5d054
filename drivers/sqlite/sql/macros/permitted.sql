-- A claim may take a job: it holds its permits, or needs none.
(permits IS NOT NULL OR NOT {needs_permit(hourbell_job)})
