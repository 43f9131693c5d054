-- Records which of these ended nodes still hold jobs, and when to look at these jobs again.
UPDATE hourbell_node FORCE INDEX (PRIMARY)
SET look_at = CASE WHEN id IN (:left) THEN {at(:now)} + INTERVAL :wait MICROSECOND END
WHERE id IN (:nodes) AND (look_at IS NOT NULL OR id IN (:left))
