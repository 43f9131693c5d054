-- statement findLaneWork, takes now queue node, returns limited rated found pauses ended next alive paused
-- Reports whether a limit whose permits jobs hold concerns the queue, and whether there are permits to pass on, pauses, and
-- pauses that have ended; when a lane has to be looked at next; whether a node is alive; and
-- whether the queue is paused. rated: a rate is among the limits.
SELECT l.limited, l.rated,
    EXISTS (SELECT FROM {schema}.vacancy) OR EXISTS (SELECT FROM {schema}.lane WHERE look_at <= coalesce(:now::timestamptz, now())) AS found,
    EXISTS (SELECT FROM {schema}.pause) AS pauses,
    EXISTS (SELECT FROM {schema}.pause AS p WHERE p.until <= coalesce(:now::timestamptz, now())) AS ended,
    (SELECT min(look_at) FROM {schema}.lane WHERE look_at > coalesce(:now::timestamptz, now())) AS next,
    EXISTS (SELECT FROM {schema}.heartbeat WHERE node = :node::bigint) AS alive,
    EXISTS (SELECT FROM {schema}.pause AS p WHERE p.subject = 1 AND {in_queue(:queue::text, p.name)} AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)) AS paused
FROM (
    SELECT count(*) > 0 AS limited, coalesce(bool_or(t.rate > 0 AND t.ended_at IS NULL), false) AS rated
    FROM {schema}.job_limit AS t WHERE (t.by_key OR t.kind <> '') AND (t.queue = '' OR {in_queue(:queue::text, t.queue)})
) AS l
