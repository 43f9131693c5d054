-- statement claimJobs, given in_order
-- statement claimJobsMixed, given mixed
-- Gives locked jobs to a node, with the tokens after :before in the order of their start. The first :begin of them may begin.
-- :ids are ascending, because INTERVAL searches, and FIELD would compare each row with each number. If the jobs start in
-- another order, :places has their places in it.
UPDATE hourbell_job FORCE INDEX (PRIMARY)
SET state = 2, node = :node, attempt = LEAST(attempt + 1, 32767), started_at = {at(:now)},
  token = :before + INTERVAL(id, :ids), begun = INTERVAL(id, :ids) <= :begin                                                             -- if in_order
  token = :before + CAST(ELT(INTERVAL(id, :ids), :places) AS SIGNED), begun = CAST(ELT(INTERVAL(id, :ids), :places) AS SIGNED) <= :begin -- if mixed
WHERE id IN (:ids)
