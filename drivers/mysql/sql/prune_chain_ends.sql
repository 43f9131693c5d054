-- Deletes the oldest ends for which dependents have accounted.
DELETE FROM hourbell_chain_end WHERE slot < {at(:before)} AND open = 0 ORDER BY slot LIMIT :limit
