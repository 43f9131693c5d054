-- statement deleteChain, takes schedules
-- Deletes which schedules these schedules follow.
DELETE FROM {schema}.chain WHERE schedule_id = ANY (:schedules::bigint[])
