-- Gives locked jobs to a node, in the order of :ids, with the tokens after :before. The first :begin
-- of them may begin.
UPDATE hourbell_job FORCE INDEX (PRIMARY)
SET state = 2, node = :node, attempt = LEAST(attempt + 1, 32767), started_at = {at(:now)},
  token = :before + FIELD(id, :ids), begun = FIELD(id, :ids) <= :begin
WHERE id IN (:ids)
