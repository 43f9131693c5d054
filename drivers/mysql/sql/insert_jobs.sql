-- New jobs. The server numbers them in their order. Instants are code: see datetime.
INSERT INTO hourbell_job (run_at, created_at, slot, schedule_id, origin, state, waits, releases, rare, args, headers, {spec})
VALUES
(:run_at, :created_at, :slot, :schedule, :origin, :state, :waits, :releases, :rare, :args, :headers, {:spec})
