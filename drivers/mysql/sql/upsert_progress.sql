-- shared statement upsertProgress
-- Stores the progress of claims of jobs that still have the tokens of the claims, also of
-- finished jobs.
INSERT INTO hourbell_progress (job_id, token, at, done, total, note, stuck)
SELECT c.id, c.token, {at(:now)}, c.done, c.total, c.note, {at(c.stuck)}
FROM JSON_TABLE(:claims, '$[*]' COLUMNS (id BIGINT PATH '$.id', token BIGINT PATH '$.token', done BIGINT PATH '$.done', total BIGINT PATH '$.total', note LONGTEXT CHARACTER SET utf8mb4 PATH '$.note',
    stuck BIGINT PATH '$.stuck')) AS c
WHERE (SELECT j.token FROM hourbell_job AS j WHERE j.id = c.id) = c.token
   OR (SELECT h.token FROM hourbell_history AS h WHERE h.id = c.id) = c.token
ON DUPLICATE KEY UPDATE token = VALUES(token), at = VALUES(at), done = VALUES(done), total = VALUES(total), note = VALUES(note), stuck = VALUES(stuck)
