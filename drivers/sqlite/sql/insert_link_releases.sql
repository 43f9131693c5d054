-- statement InsertLinkReleases
-- Inserts notes of jobs that may not have ended: a step looks them up.
INSERT INTO hourbell_release (on_id, ended_at, state, reason)
SELECT value ->> 'on_id', value ->> 'now', 0, '' FROM jsonb_each(:rows)
