-- Jobs of kinds with a retention of their own: until when they are kept. The index has
-- them apart from the jobs that are kept by their age, so that pruning meets only the jobs
-- of one sort.
ALTER TABLE hourbell_history ADD COLUMN keep_until INTEGER;
DROP INDEX hourbell_history_finished;
CREATE INDEX hourbell_history_finished ON hourbell_history (state, (keep_until IS NOT NULL), finished_at);
CREATE INDEX hourbell_history_keep ON hourbell_history (keep_until) WHERE keep_until IS NOT NULL;
