-- statement PruneCopies, given prune
-- statement findOldCopies, given look, returns owner
-- Deletes old copies of hosts without a known node.
SELECT owner FROM hourbell_copy -- if look
DELETE FROM hourbell_copy       -- if prune
WHERE changed_at < {at(:before)} AND NOT EXISTS (SELECT 1 FROM hourbell_node AS n WHERE n.host = hourbell_copy.host)
LIMIT :limit
