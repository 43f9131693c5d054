-- statement listLinks, takes ids limit, returns job_id on_id delay_us on state
-- Edges from and to jobs, as far as :limit allows for each.
SELECT job_id, on_id, delay_us, "on", state FROM (
    (SELECT job_id, on_id, delay_us, "on", state FROM {schema}.edge WHERE job_id = ANY (:ids::bigint[]) ORDER BY job_id, on_id LIMIT :limit::bigint)
    UNION
    (SELECT job_id, on_id, delay_us, "on", state FROM {schema}.edge WHERE on_id = ANY (:ids::bigint[]) ORDER BY on_id, job_id LIMIT :limit::bigint)
) AS e
ORDER BY job_id, on_id
