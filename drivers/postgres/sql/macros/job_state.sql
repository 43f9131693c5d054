-- The state of a job, by its number; -1: there is no such job.
coalesce((SELECT h.state FROM {schema}.history AS h WHERE h.id = $1),
    (SELECT CASE WHEN j.running THEN 2 ELSE greatest(j.state, 0) END FROM {schema}.job AS j WHERE j.id = $1), -1)
