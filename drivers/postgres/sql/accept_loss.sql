-- statement acceptLoss, returns seen_token seen_node
-- Ends the suspension and returns the greatest numbers that were reported.
UPDATE {schema}.timeline AS l
SET accepted = greatest(l.accepted, l.seen_accepted) + 1, lost_at = NULL, seen_token = 0, seen_node = 0, seen_accepted = 0
FROM (SELECT seen_token, seen_node FROM {schema}.timeline FOR UPDATE) AS before
RETURNING before.seen_token, before.seen_node
