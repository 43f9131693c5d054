-- statement capRate, takes greatest limit_id
-- Sets the states of the rates of a limit to an instant if they are later. Locks lanes in the order of their numbers.
UPDATE {schema}.lane SET tat = :greatest::timestamptz
WHERE id = ANY (ARRAY(SELECT l.id FROM {schema}.lane AS l WHERE l.limit_id = :limit_id::bigint AND l.tat > :greatest::timestamptz ORDER BY l.id FOR UPDATE))
