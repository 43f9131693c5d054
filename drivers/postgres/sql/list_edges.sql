-- statement listEdges, takes ids, returns job_id on_id delay_us on state
-- What jobs wait or waited for.
SELECT job_id, on_id, delay_us, "on", state FROM {schema}.edge WHERE job_id = ANY (:ids::bigint[]) ORDER BY job_id, on_id
