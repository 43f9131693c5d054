-- On which host a node runs, and what its operator says of it.
ALTER TABLE {schema}.node
    ADD COLUMN host   text NOT NULL DEFAULT '',    -- empty: a node of an earlier release
    ADD COLUMN labels text[] NOT NULL DEFAULT '{}'; -- each KEY=VALUE
