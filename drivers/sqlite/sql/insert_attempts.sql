-- Records the errors, traces and outputs of attempts, once for each claim. One blob has
-- all outputs.
INSERT OR IGNORE INTO hourbell_attempt (job_id, token, attempt, node, started_at, finished_at, error, trace, output)
SELECT j.id, j.token, j.attempt, coalesce((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), ''), j.started_at, :now,
       o.value ->> 'error', o.value ->> 'trace', coalesce(substr(:bytes, o.value ->> 'output_at', o.value ->> 'output_len'), x'')
FROM jsonb_each(:attempts) AS o
CROSS JOIN hourbell_job AS j ON j.id = o.value ->> 'id'
