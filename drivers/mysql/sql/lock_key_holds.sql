-- statement lockKeyHolds, returns place job_id
-- Locks the holds of some kinds and keys that have an effect, each with the place of its key.
SELECT o.place, u.job_id
FROM (SELECT * FROM JSON_TABLE(:keys, '$[*]' COLUMNS (place BIGINT PATH '$.place',
  kind VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.kind', unique_key VARCHAR(200) CHARACTER SET utf8mb4 COLLATE {bin} PATH '$.unique')) AS x) AS o

STRAIGHT_JOIN hourbell_key_hold AS u FORCE INDEX (PRIMARY) ON u.kind = o.kind AND u.unique_key = o.unique_key
WHERE u.until > {at(:now)}
FOR UPDATE
