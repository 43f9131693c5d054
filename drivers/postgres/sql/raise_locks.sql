-- statement raiseLocks, takes margin
-- Raises the tokens of the locks in this schema.
UPDATE {schema}.lock_state SET token = token + :margin::bigint
