-- statement CheckRecorded, returns place state
-- The states of jobs that history has with the token of a claim. An outcome with that
-- state is a repetition.
SELECT o.place, h.state
FROM (SELECT * FROM JSON_TABLE(:claims, '$[*]' COLUMNS (place BIGINT PATH '$.place', id BIGINT PATH '$.id', token BIGINT PATH '$.token')) AS x) AS o

STRAIGHT_JOIN hourbell_history AS h FORCE INDEX (PRIMARY) ON h.id = o.id
WHERE h.token = o.token
{share}
