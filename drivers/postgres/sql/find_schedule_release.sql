-- statement findScheduleRelease, takes names, returns found
-- Whether an end of a job of one of these schedules, or of one of their predecessors, is
-- perhaps not passed on.
SELECT EXISTS (
    SELECT FROM {schema}.release AS r JOIN {schema}.schedule AS p ON p.id = ANY (r.schedules)
    WHERE p.name = ANY (:names::text[])
        OR EXISTS (
            SELECT FROM {schema}.chain AS c JOIN {schema}.schedule AS d ON d.id = c.schedule_id
            WHERE c.predecessor = ANY (ARRAY[p.name, CASE WHEN left(p.owner, 6) = 'every:' THEN substr(p.owner, 7) END]) AND d.name = ANY (:names::text[]))) AS found
