-- statement takeKeys, takes now kinds keys untils repeats froms, returns place id
-- Takes their keys away from live jobs, for new jobs that get them, by the rule of store.NewJob.Takes: from a job in :froms, from jobs
-- that have begun (:untils), and (:repeats) from jobs that run, whose ends then leave rows in release. A job whose row another
-- transaction has changed is looked at again when that transaction has ended. The rows are locked in the order of their numbers.
UPDATE {schema}.job AS j SET unique_key = NULL, releases = j.releases OR n.again AND j.id <> n.from_id
FROM (
    SELECT given.*, (SELECT l.id FROM {schema}.job AS l WHERE l.kind = given.kind AND l.unique_key = given.unique_key) AS holder
    FROM unnest(:kinds::text[], :keys::text[],
        :untils::boolean[], :repeats::boolean[], :froms::bigint[]) WITH ORDINALITY AS given (kind, unique_key, until_start, again, from_id, place)
    ORDER BY holder OFFSET 0
) AS n
WHERE j.id = ANY (ARRAY[n.holder]) AND j.unique_key = n.unique_key
    AND (n.again AND j.running OR j.id = n.from_id OR n.until_start AND (j.running OR j.attempt > 0 OR j.refunds > 0 OR coalesce(j.snoozes, 0) > 0))
    AND NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.kind = n.kind AND u.unique_key = n.unique_key AND u.until > coalesce(:now::timestamptz, now()))
RETURNING n.place, j.id
