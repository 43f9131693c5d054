-- Jobs that were not started wait again if a job that they follow is retried by hand. The
-- retry leaves a row in hourbell_release with state 1.

ALTER TABLE hourbell_edge ADD COLUMN since INTEGER; -- rows of hourbell_release before this one do not concern the edge; NULL: all do
