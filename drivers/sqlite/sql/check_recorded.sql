-- The jobs that ended under the token of the claim: perhaps a repetition.
SELECT o.key AS place, h.state
FROM jsonb_each(:claims) AS o
CROSS JOIN hourbell_history AS h ON h.id = o.value ->> 'id' AND h.token = o.value ->> 'token'
