-- The output of attempts that run, in blocks: the newest blocks of each. The end of an
-- attempt deletes its rows, and the record of the attempt keeps the output from then on.
CREATE TABLE {schema}.output (
    job_id bigint NOT NULL,
    token  bigint NOT NULL,
    block  bigint NOT NULL, -- byte 4096*block of the output is the first of data
    data   bytea NOT NULL,
    PRIMARY KEY (job_id, token, block)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- How many bytes the attempt printed; less than output has: as many.
ALTER TABLE {schema}.attempt ADD COLUMN printed bigint NOT NULL DEFAULT 0;
