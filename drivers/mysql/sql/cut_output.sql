-- shared statement cutOutput
-- Deletes the stored output of jobs that is of other tokens or outside the windows.
DELETE p
FROM JSON_TABLE(:windows, '$[*]' COLUMNS (id BIGINT PATH '$.id', token BIGINT PATH '$.token', first_block BIGINT PATH '$.first', last_block BIGINT PATH '$.last')) AS w
STRAIGHT_JOIN hourbell_output AS p ON p.job_id = w.id
WHERE p.token <> w.token OR p.block NOT BETWEEN w.first_block AND w.last_block
