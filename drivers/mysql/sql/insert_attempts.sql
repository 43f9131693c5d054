-- statement InsertAttempts
-- Records attempts, once for each claim; but a record of a lost attempt is replaced. One
-- blob has all outputs. The columns of a record are set one after the other, so its outcome is set last.
INSERT INTO hourbell_attempt (job_id, token, attempt, node, started_at, finished_at, outcome, error, trace, output, printed)
SELECT j.id, j.token, j.attempt, {node_name}, j.started_at, {at(:now)},
  o.outcome, o.error, o.trace, SUBSTRING(:bytes, o.output_at, o.output_len), o.printed
FROM JSON_TABLE(:attempts, '$[*]' COLUMNS (id BIGINT PATH '$.id', node_name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.node_name', outcome SMALLINT PATH '$.outcome',
  error LONGTEXT CHARACTER SET utf8mb4 PATH '$.error', trace LONGTEXT CHARACTER SET utf8mb4 PATH '$.trace',
  output_at BIGINT PATH '$.output_at', output_len BIGINT PATH '$.output_len', printed BIGINT PATH '$.printed')) AS o
STRAIGHT_JOIN hourbell_job AS j FORCE INDEX (PRIMARY) ON j.id = o.id
WHERE 1 = 1
ON DUPLICATE KEY UPDATE
  finished_at = IF(hourbell_attempt.outcome = 6, VALUES(finished_at), hourbell_attempt.finished_at),
  error = IF(hourbell_attempt.outcome = 6, VALUES(error), hourbell_attempt.error),
  trace = IF(hourbell_attempt.outcome = 6, VALUES(trace), hourbell_attempt.trace),
  output = IF(hourbell_attempt.outcome = 6, VALUES(output), hourbell_attempt.output),
  printed = IF(hourbell_attempt.outcome = 6, VALUES(printed), hourbell_attempt.printed),
  outcome = IF(hourbell_attempt.outcome = 6, VALUES(outcome), hourbell_attempt.outcome)
