-- shared statement cutOutput
-- Deletes the stored output of jobs that is of other tokens or outside the windows.
DELETE FROM hourbell_output
WHERE (job_id, token, block) IN (
    SELECT p.job_id, p.token, p.block
    FROM jsonb_each(:windows) AS w
    CROSS JOIN hourbell_output AS p ON p.job_id = w.value ->> 'id'
    WHERE p.token <> w.value ->> 'token' OR p.block NOT BETWEEN w.value ->> 'first' AND w.value ->> 'last'
)
