-- shared statement endLoss
-- Ends the suspension after a loss of history.
UPDATE hourbell_timeline
SET accepted = greatest(accepted, seen_accepted) + 1, lost_at = NULL, seen_token = 0, seen_node = 0, seen_accepted = 0
