-- Waits for the claims that have begun, and keeps nodes from claiming.
SELECT id FROM hourbell_node WHERE ended_at IS NULL ORDER BY id FOR UPDATE
