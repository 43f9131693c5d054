-- shared statement raiseLocks
-- Raises the tokens of all locks.
UPDATE hourbell_lock_state SET token = token + :margin
