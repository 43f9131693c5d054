-- statement updateBatch, takes id finally
-- Stores which job is the last job of a batch.
UPDATE {schema}.batch SET finally_id = :finally::bigint WHERE id = ANY (ARRAY[:id::bigint])
