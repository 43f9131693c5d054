-- statement readWakes, returns source jobs schedules cancels
-- Reads what other processes have raised. The table has a row for each of them, and for each connection in whose
-- transactions callers made changes in the last minutes.
SELECT source, jobs, schedules, cancels FROM hourbell_wake
