-- What few jobs have, has its indexes in a table of its own. An index of InnoDB has an entry for each row, also for NULL.

-- Whether the job has a row in hourbell_job_rare. A job that has got a row keeps it to its end.
ALTER TABLE hourbell_job ADD COLUMN rare TINYINT NOT NULL DEFAULT 0;

-- Live jobs that have a schedule, a group, a key, a unique key or a batch, that were lost, or that have waited in a lane: each row
-- is a copy of columns of its job.
CREATE TABLE IF NOT EXISTS hourbell_job_rare (
  job_id      BIGINT NOT NULL PRIMARY KEY,
  run_at      DATETIME(6) NOT NULL,
  slot        DATETIME(6),
  schedule_id BIGINT,
  batch       BIGINT,
  lane        BIGINT,
  priority    SMALLINT NOT NULL,
  state       TINYINT NOT NULL,
  losses      SMALLINT NOT NULL,
  group_name  VARCHAR(200),
  job_key     VARCHAR(200),
  unique_kind VARCHAR(200), -- the kind; NULL without a unique key, because Galera compares NULL like a value beside a value
  unique_key  VARCHAR(200),
  UNIQUE KEY hourbell_rare_unique (unique_kind, unique_key),
  KEY hourbell_rare_schedule (schedule_id, state, slot, job_id),
  KEY hourbell_rare_group (group_name, state, run_at, job_id),
  KEY hourbell_rare_key (job_key, state, run_at, job_id),
  KEY hourbell_rare_batch (batch, job_id),
  KEY hourbell_rare_lane (lane, priority, state, run_at, job_id),
  KEY hourbell_rare_losses (losses)
) {table};
UPDATE hourbell_job SET rare = 1
WHERE rare = 0 AND (schedule_id IS NOT NULL OR batch IS NOT NULL OR lane IS NOT NULL OR losses > 0
  OR group_name IS NOT NULL OR job_key IS NOT NULL OR unique_key IS NOT NULL);
INSERT IGNORE INTO hourbell_job_rare (job_id, run_at, slot, schedule_id, batch, lane, priority, state, losses, group_name, job_key, unique_kind, unique_key)
SELECT id, run_at, slot, schedule_id, batch, lane, priority, state, losses, group_name, job_key, IF(unique_key IS NULL, NULL, kind), unique_key
FROM hourbell_job WHERE rare = 1;
ALTER TABLE hourbell_job DROP KEY hourbell_job_suspect, DROP KEY hourbell_job_schedule, DROP KEY hourbell_job_unique, DROP KEY hourbell_job_group,
  DROP KEY hourbell_job_key, DROP KEY hourbell_job_of_batch, DROP KEY hourbell_job_lane, DROP COLUMN unique_kind;
