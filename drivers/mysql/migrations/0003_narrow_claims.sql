-- Claims change less.

-- An update that makes a row longer moves the row, and the server logs the page. These two columns are NULL until the first
-- claim, and NULL takes no place. So new jobs have values that mean the same: no node has the number 0, and no attempt
-- began in 1970.
ALTER TABLE hourbell_job ALTER COLUMN node SET DEFAULT 0, ALTER COLUMN started_at SET DEFAULT '1970-01-01 00:00:00.000000';

-- The index of ready jobs has the running jobs, too. They are few.
ALTER TABLE hourbell_job DROP KEY hourbell_job_ready, ADD KEY hourbell_job_ready (state, queue, priority, run_at, id, node);
ALTER TABLE hourbell_job DROP KEY hourbell_job_running;
