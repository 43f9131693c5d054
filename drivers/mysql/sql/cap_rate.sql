-- shared statement capRate
-- Sets the states of the rates of a limit to an instant if they are later.
UPDATE hourbell_lane FORCE INDEX (hourbell_lane_of) SET tat = {at(:greatest)} WHERE limit_id = :limit_id AND tat > {at(:greatest)}
