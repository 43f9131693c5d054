-- What is known of jobs whose nodes died.
--
-- job.losses counts the losses in a row, and job.refunds the attempts that were
-- refunded after lost leases. A job with two losses is a suspect, which is claimed
-- apart from all others. A claim changes none of these columns.
--
-- lease.begun lists the jobs of a claim that may have begun; NULL: all of them. The
-- release before writes no list.
ALTER TABLE {schema}.job ADD COLUMN losses smallint NOT NULL DEFAULT 0, ADD COLUMN refunds smallint NOT NULL DEFAULT 0;
ALTER TABLE {schema}.history ADD COLUMN losses smallint NOT NULL DEFAULT 0;
ALTER TABLE {schema}.lease ADD COLUMN begun bigint[];

CREATE INDEX job_suspect ON {schema}.job (queue, priority, run_at, id) WHERE state = 0 AND losses >= 2;
