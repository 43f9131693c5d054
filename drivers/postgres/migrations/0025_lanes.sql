-- Lanes in which jobs may wait. Without them, the end of a job has no permits to pass on.
CREATE INDEX lane_waiting ON {schema}.lane (id) WHERE waiting;
