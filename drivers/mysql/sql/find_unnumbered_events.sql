-- statement findUnnumberedEvents, returns entry
-- statement lockUnnumberedEvents, given lock, returns entry
-- The oldest rows of the feed without a number, without rows whose transactions are open.
SELECT entry FROM hourbell_event WHERE id IS NULL ORDER BY entry LIMIT :limit
FOR UPDATE SKIP LOCKED -- if lock
