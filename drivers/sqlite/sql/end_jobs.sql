-- statement EndJobs
-- statement EndJobsWithResults, given results kept
-- Copies jobs to history; delete_ended_jobs then takes them from the hot table.
INSERT INTO hourbell_history (
                              result,                -- if results
                              keep_until,            -- if kept
                              id, run_at, created_at, started_at, finished_at, slot, schedule_id, node, token, state, attempt, origin,
                              node_name, reason, args, headers, losses, snoozes, releases, {spec})
SELECT
       o.value ->> 'result',                         -- if results
       o.value ->> 'keep_until',                     -- if kept
       j.id, j.run_at, j.created_at, j.started_at, :now, j.slot, j.schedule_id, j.node, j.token, o.value ->> 'state', j.attempt, j.origin,
       coalesce((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), ''), o.value ->> 'reason', j.args, j.headers, j.losses, j.snoozes, j.releases, {j.spec}
FROM jsonb_each(:ends) AS o
CROSS JOIN hourbell_job AS j ON j.id = o.value ->> 'id'
