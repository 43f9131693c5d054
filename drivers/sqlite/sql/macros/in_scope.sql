-- Limit.Matches: the queue, the kind and by_key of a limit, and a job.
($1 = '' OR {in_queue($4.queue, $1)}) AND $2 IN ('', $4.kind) AND (NOT $3 OR $4.job_key IS NOT NULL)
