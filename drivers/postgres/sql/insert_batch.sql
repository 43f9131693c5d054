-- statement insertBatch, takes now on any, returns id
-- Inserts a batch. :on is null for a batch without a last job.
INSERT INTO {schema}.batch (created_at, finally_on, finally_any)
VALUES (coalesce(:now::timestamptz, now()), :on::smallint, :any::boolean) RETURNING id
