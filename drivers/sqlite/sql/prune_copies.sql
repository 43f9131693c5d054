-- statement PruneCopies
-- Deletes old copies of hosts without a known node.
DELETE FROM hourbell_copy WHERE (owner, host) IN (
  SELECT c.owner, c.host FROM hourbell_copy AS c
  WHERE c.changed_at < :before AND NOT EXISTS (SELECT 1 FROM hourbell_node AS n WHERE n.host = c.host)
  LIMIT +:limit)
