-- Unique keys that stay taken after the end of their jobs. A row has an effect until its
-- instant; then the next insert with the key replaces the row, or it is pruned.
CREATE TABLE {schema}.key_hold (
    job_id     bigint NOT NULL,
    until      timestamptz NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    unique_key text COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, unique_key)
);

CREATE INDEX key_hold_until ON {schema}.key_hold (until);
CREATE INDEX key_hold_job ON {schema}.key_hold (job_id);
