-- New jobs. The server numbers them in their order.
INSERT INTO hourbell_job (run_at, created_at, slot, schedule_id, origin, state, waits, releases, args, headers, {spec})
VALUES
(COALESCE({at(:run_at)}, COALESCE({at(:now)}, UTC_TIMESTAMP(6)) + INTERVAL :delay MICROSECOND), COALESCE({at(:now)}, UTC_TIMESTAMP(6)), {at(:slot)}, :schedule, :origin, :state, :waits, :releases, :args, :headers, {:spec})
