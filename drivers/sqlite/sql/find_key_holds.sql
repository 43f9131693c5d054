-- Jobs among these that hold their keys, and until when.
SELECT u.job_id, u.until
FROM json_each(:ids) AS o
CROSS JOIN hourbell_key_hold AS u ON u.job_id = o.value
WHERE u.until > :now
