-- statement insertEdges, takes on_ids ids delays ons states anys at_ends
-- Inserts what new jobs wait for.
INSERT INTO {schema}.edge (on_id, job_id, delay_us, "on", state, any_of, at_end)
SELECT * FROM unnest(:on_ids::bigint[], :ids::bigint[], :delays::bigint[], :ons::smallint[], :states::smallint[], :anys::boolean[], :at_ends::boolean[])
