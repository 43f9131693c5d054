-- shared statement findBatch, returns finally_id finally_on finally_any
-- The last job of a batch, and what it waits for.
SELECT coalesce(finally_id, 0) AS finally_id, coalesce(finally_on, 0) AS finally_on, coalesce(finally_any, 0) AS finally_any
FROM hourbell_batch WHERE id = :id
{share}
