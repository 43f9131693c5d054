-- How nodes find out that the store went back in time: a backup was restored, or
-- a failover lost what had been committed. The store's own numbers, the sequences of
-- tokens and of nodes, are compared with those that nodes have seen.
--
-- One row: who the store is, and what was reported and accepted.
CREATE TABLE {schema}.timeline (
    one           boolean PRIMARY KEY DEFAULT true CHECK (one),
    store         text NOT NULL,
    accepted      bigint NOT NULL DEFAULT 0, -- losses of history
    lost_at       timestamptz,               -- since when a loss waits to be accepted
    seen_token    bigint NOT NULL DEFAULT 0, -- the greatest numbers that were reported
    seen_node     bigint NOT NULL DEFAULT 0,
    seen_accepted bigint NOT NULL DEFAULT 0
);

INSERT INTO {schema}.timeline (store) VALUES (gen_random_uuid()::text);

-- How many heartbeats a node has sent: a number that grows whatever the clock does.
ALTER TABLE {schema}.heartbeat ADD COLUMN beats bigint NOT NULL DEFAULT 0;
