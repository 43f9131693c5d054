-- statement updateLeftNodes, takes now wait left nodes
-- Records which of these ended nodes still hold jobs, and when to look at these jobs again.
UPDATE {schema}.node
SET look_at = CASE WHEN id = ANY (:left::bigint[]) THEN coalesce(:now::timestamptz, now()) + :wait::bigint * interval '1 microsecond' END
WHERE id = ANY (:nodes::bigint[])
