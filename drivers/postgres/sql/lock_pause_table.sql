-- Waits for the transactions that have read pauses by lock_pauses or park_jobs, and makes new
-- ones wait. Claims read pauses without locks.
LOCK TABLE {schema}.pause IN EXCLUSIVE MODE
