-- Pause.Concerns: the subject and the name of a pause, and a job.
CASE $1 WHEN 0 THEN $3.group_name = $2 WHEN 1 THEN {in_queue($3.queue, $2)} WHEN 2 THEN $3.kind = $2 ELSE $3.job_key = $2 END
