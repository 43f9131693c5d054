-- statement CheckRecorded, returns place state
-- The states of jobs that history has with the token of a claim. An outcome with that
-- state is a repetition.
SELECT o.value ->> 'place' AS place, h.state
FROM jsonb_each(:claims) AS o
CROSS JOIN hourbell_history AS h ON h.id = o.value ->> 'id' AND h.token = o.value ->> 'token'
