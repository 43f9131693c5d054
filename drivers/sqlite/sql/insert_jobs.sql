-- The bytes of args and headers ride in one blob, each job saying where its own
-- begin (from 1), so that nothing on the way can change them.
INSERT INTO hourbell_job (run_at, created_at, slot, schedule_id, timeout, priority, state, max_attempts, on_loss, origin,
                          queue, kind, args, headers)
SELECT coalesce(value ->> 'run_at', now + (value ->> 'delay')), now, value ->> 'slot', value ->> 'schedule',
       value ->> 'timeout', value ->> 'priority', value ->> 'state', value ->> 'max_attempts', value ->> 'on_loss', value ->> 'origin',
       value ->> 'queue', value ->> 'kind',
       substr(:bytes, value ->> 'args_at', value ->> 'args_len'),
       substr(:bytes, value ->> 'headers_at', value ->> 'headers_len')
FROM (SELECT coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000) AS now)
CROSS JOIN jsonb_each(:jobs)
