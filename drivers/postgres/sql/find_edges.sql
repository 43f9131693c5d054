-- statement findEdges, takes on_ids done_tos numbers limit, returns place job_id delay_us on any_of at_end
-- statement findOpenEdges, given open, takes on_ids done_tos numbers limit, returns place job_id delay_us on any_of at_end
-- The edges on jobs, each from a dependent on, in the order of these jobs: the open edges that
-- notes of ends concern, or all edges.
SELECT o.place, e.job_id, e.delay_us, e."on", e.any_of, e.at_end
FROM unnest(:on_ids::bigint[], :done_tos::bigint[], :numbers::bigint[]) WITH ORDINALITY AS o (on_id, done_to, number, place), LATERAL (
    SELECT x.job_id, x.delay_us, x."on", x.any_of, x.at_end FROM {schema}.edge AS x
    WHERE x.on_id = o.on_id AND x.job_id > o.done_to
        AND x.state = 0 AND (x.since IS NULL OR x.since < o.number)  -- if open
    ORDER BY x.job_id LIMIT :limit::bigint
) AS e
LIMIT :limit::bigint
