-- statement InsertAttempts
-- Records attempts, once for each claim; but a record of a lost attempt is replaced. One
-- blob has all outputs.
INSERT INTO hourbell_attempt (job_id, token, attempt, node, started_at, finished_at, outcome, error, trace, output, printed)
SELECT j.id, j.token, j.attempt, coalesce((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), ''), j.started_at, :now,
       o.value ->> 'outcome', o.value ->> 'error', o.value ->> 'trace', coalesce(substr(:bytes, o.value ->> 'output_at', o.value ->> 'output_len'), x''), o.value ->> 'printed'
FROM jsonb_each(:attempts) AS o
CROSS JOIN hourbell_job AS j ON j.id = o.value ->> 'id'
WHERE true
ON CONFLICT (job_id, token) DO UPDATE
SET finished_at = excluded.finished_at, outcome = excluded.outcome, error = excluded.error, trace = excluded.trace, output = excluded.output, printed = excluded.printed
WHERE outcome = 6
