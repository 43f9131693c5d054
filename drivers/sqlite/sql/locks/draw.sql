-- Draws the token of a lock that was just taken, and stores its slot.
INSERT INTO {state} AS s (name, token, slot, anchor, step, granted_at)
VALUES (:name, 1, :slot, :anchor, :step, :granted)
ON CONFLICT (name) DO UPDATE
SET token = s.token + 1,
    slot = iif(excluded.granted_at IS NULL, s.slot, excluded.slot),
    anchor = iif(excluded.granted_at IS NULL, s.anchor, excluded.anchor),
    step = iif(excluded.granted_at IS NULL, s.step, excluded.step),
    granted_at = coalesce(excluded.granted_at, s.granted_at)
RETURNING token
