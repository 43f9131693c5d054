-- Wakes other processes: the row of a Backend or, in a caller's transaction, of its connection counts up. So no two
-- open transactions write the same row. A second server of a cluster may have a connection of the same number.
INSERT INTO hourbell_wake (source, jobs, schedules, cancels, at)
VALUES (COALESCE(:source, -(CONNECTION_ID() * 65536 + (CRC32(CONCAT(@@hostname, ':', @@port)) & 65535))),
        :jobs, :schedules, :cancels, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE jobs = jobs + :jobs, schedules = schedules + :schedules, cancels = cancels + :cancels, at = UTC_TIMESTAMP(6)
