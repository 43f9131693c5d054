-- statement InsertLinkReleases
-- Inserts notes of jobs that may not have ended: a step looks them up.
INSERT INTO hourbell_release (on_id, ended_at, state, reason)
VALUES
(:on_id, {at(:now)}, 0, _utf8mb4'')
