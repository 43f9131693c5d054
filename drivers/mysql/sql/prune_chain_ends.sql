-- statement PruneChainEnds, given prune
-- statement findOldChainEnds, given look, returns job_id
-- Deletes the oldest ends for which dependents have accounted.
SELECT job_id FROM hourbell_chain_end -- if look
DELETE FROM hourbell_chain_end        -- if prune
WHERE slot < {at(:before)} AND open = 0 ORDER BY slot LIMIT :limit
