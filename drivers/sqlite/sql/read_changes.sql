-- statement readChanges, returns changes
-- How many rows the connection has changed so far. It begins no snapshot, and takes no lock.
SELECT total_changes() AS changes
