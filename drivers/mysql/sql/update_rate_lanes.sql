-- Records the starts of jobs of a queue with a rate.
UPDATE hourbell_lane SET tat = {at(:tat)} WHERE limit_id = :limit AND `key` = _utf8mb4''
