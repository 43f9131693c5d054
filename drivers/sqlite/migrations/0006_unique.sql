-- Keys that no two living jobs of a kind share.
ALTER TABLE hourbell_job ADD COLUMN unique_key TEXT;
CREATE UNIQUE INDEX hourbell_job_unique ON hourbell_job (kind, unique_key) WHERE unique_key IS NOT NULL;
