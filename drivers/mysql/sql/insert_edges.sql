-- shared statement insertEdges
-- Inserts what new jobs wait for.
INSERT INTO hourbell_edge (on_id, job_id, delay, `on`, state, any_of, at_end)
VALUES
(:on_id, :id, :delay, :on, :state, :any, :at_end)
