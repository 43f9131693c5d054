-- statement lockChain, given changing, returns locked
-- statement lockChainShared, given creating, returns locked
-- Lets one transaction at a time change which schedules follow which; others only create
-- schedules, and exclude these transactions, but not each other.
SELECT count(*) AS locked
FROM pg_advisory_xact_lock(hashtextextended('hourbell chain {schema_text}', 0))           -- if changing
FROM pg_advisory_xact_lock_shared(hashtextextended('hourbell chain {schema_text}', 0))    -- if creating
