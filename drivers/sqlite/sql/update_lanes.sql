-- shared statement updateLanes
-- Changes lanes.
UPDATE hourbell_lane AS l SET used = o.value ->> 'used', starts = o.value ->> 'starts', tat = o.value ->> 'tat', not_before = o.value ->> 'not_before',
  waiting = o.value ->> 'waiting', look_at = o.value ->> 'look_at'
FROM jsonb_each(:lanes) AS o WHERE l.id = o.value ->> 'id'
