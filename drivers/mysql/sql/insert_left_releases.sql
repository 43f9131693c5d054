-- Inserts notes that are left for later, because other transactions have locked dependents, or
-- because a retry has to be carried out first.
INSERT INTO hourbell_release (first_id, on_id, schedule_id, done_to, ended_at, state, reason)
VALUES
(:number, :on_id, :schedule, :done_to, {at(:ended_at)}, :state, :reason)
