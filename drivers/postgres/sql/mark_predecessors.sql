-- statement markPredecessors, takes names, returns id
-- Lets the ends of jobs of schedules, which are locked, and of schedules of hosts that are made from them, leave rows in
-- release, if a schedule follows them. Returns the schedules that change.
UPDATE {schema}.schedule AS s SET releases = true
WHERE s.id = ANY (ARRAY(
        SELECT a.id FROM {schema}.schedule AS a WHERE a.name = ANY (:names::text[])
        UNION ALL
        SELECT b.id FROM unnest(:names::text[]) AS n (name) JOIN {schema}.schedule AS b ON b.owner = 'every:' || n.name AND b.deleted_at IS NULL))
    AND NOT s.releases
    AND EXISTS (SELECT FROM {schema}.chain AS c WHERE c.predecessor = ANY (ARRAY[s.name, CASE WHEN left(s.owner, 6) = 'every:' THEN substr(s.owner, 7) END]))
RETURNING s.id
