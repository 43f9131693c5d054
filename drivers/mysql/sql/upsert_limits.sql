-- statement UpsertLimits
-- Creates limits, or changes limits whose scope stays.
INSERT INTO hourbell_job_limit (id, name, owner, revision, queue, kind, by_key, concurrency, rate, per, burst, weights, strict, created_at, updated_at)
VALUES
(:id, :name, :owner, :revision, :queue, :kind, :by_key, :concurrency, :rate, :per, :burst, :weights, :strict, coalesce({at(:created_at)}, {at(:now)}), {at(:now)})
ON DUPLICATE KEY UPDATE
  owner = VALUES(owner), revision = VALUES(revision), concurrency = VALUES(concurrency), rate = VALUES(rate), per = VALUES(per),
  burst = VALUES(burst), weights = VALUES(weights), strict = VALUES(strict), updated_at = VALUES(updated_at)
