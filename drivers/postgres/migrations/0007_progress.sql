-- The progress that attempts reported, of live and of finished jobs: one row for each job
-- that has reported any. A row with another token than its job belongs to an attempt before
-- the last. Updates change no index, and each page has room for newer versions of its rows.
CREATE TABLE {schema}.progress (
    job_id bigint PRIMARY KEY,
    token  bigint NOT NULL,
    at     timestamptz NOT NULL,
    done   bigint NOT NULL,
    total  bigint NOT NULL, -- 0: not known
    note   text NOT NULL
) WITH (fillfactor = 50);
