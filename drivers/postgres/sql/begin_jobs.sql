-- statement beginJobs, takes now node batch ids tokens handled, returns node handled paused
-- Records that jobs of a claim may begin, unless the node is dead, or a pause concerns them.
-- The node cannot be declared dead until this transaction ends. No row: the node is dead
-- already. If there are handlers of starts, nothing is recorded unless :handled. paused has the
-- jobs that pauses concern.
WITH alive AS (
    SELECT node FROM {schema}.heartbeat WHERE node = :node::bigint FOR KEY SHARE
), paused AS MATERIALIZED (
    SELECT j.id FROM unnest(:ids::bigint[], :tokens::bigint[]) AS c (id, token) JOIN {schema}.job AS j ON j.id = ANY (ARRAY[c.id])
    WHERE EXISTS (SELECT FROM {schema}.pause) AND j.running AND j.node = :node::bigint AND j.token = c.token AND {paused(j)}
), noted AS (
    UPDATE {schema}.lease AS l SET begun = l.begun || CASE WHEN EXISTS (SELECT FROM paused)
        THEN ARRAY(SELECT i.id FROM unnest(:ids::bigint[]) AS i (id) WHERE i.id <> ALL (ARRAY(SELECT p.id FROM paused AS p))) ELSE :ids::bigint[] END
    FROM alive
    WHERE l.id = :batch::bigint AND l.node = alive.node AND l.begun IS NOT NULL
        AND (:handled::boolean OR NOT EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0))
)
SELECT node, EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0) AS handled, ARRAY(SELECT p.id FROM paused AS p) AS paused FROM alive
