-- Unique keys that do not make jobs without keys conflict in a Galera cluster, which compares NULL like a value if another
-- column of the key is not NULL: unique_kind is NULL, too, if a job has no key.
ALTER TABLE hourbell_job ADD COLUMN unique_kind VARCHAR(200) AS (IF(unique_key IS NULL, NULL, kind)) VIRTUAL;
ALTER TABLE hourbell_job DROP KEY hourbell_job_unique, ADD UNIQUE KEY hourbell_job_unique (unique_kind, unique_key);
