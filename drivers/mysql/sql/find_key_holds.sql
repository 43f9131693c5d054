-- Jobs among these that hold their keys, and until when.
SELECT u.job_id, {micros(u.until)} AS until
FROM (SELECT * FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS x) AS o

STRAIGHT_JOIN hourbell_key_hold AS u FORCE INDEX (hourbell_key_hold_job) ON u.job_id = o.id
WHERE u.until > {at(:now)}
{share}
