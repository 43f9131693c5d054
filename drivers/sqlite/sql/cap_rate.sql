-- shared statement capRate
-- Sets the states of the rates of a limit to an instant if they are later.
UPDATE hourbell_lane SET tat = :greatest WHERE limit_id = :limit_id AND tat > :greatest
