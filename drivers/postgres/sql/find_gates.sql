-- statement findGates, takes now queue limited node, returns alive now handled pauses last whole permits rated found next
-- What a claim of a node from a queue has to look at. alive: the node is alive; handled: there are handlers of starts; pauses: how many there
-- are, also pauses that have ended, and last, when the last of them began; whole: there are limits of the whole queue :limited; permits:
-- limits of kinds or keys concern the queue, also limits that have ended; rated: a rate is among these; found: there are permits to be
-- passed on; next: when a lane has to be looked at next.
SELECT EXISTS (SELECT FROM {schema}.heartbeat WHERE node = :node::bigint) AS alive, coalesce(:now::timestamptz, now()) AS now,
    EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0) AS handled, p.pauses, p.last,
    EXISTS (SELECT FROM {schema}.job_limit WHERE queue = :limited::text AND kind = '' AND NOT by_key AND ended_at IS NULL) AS whole,
    l.permits, l.rated,
    l.permits AND (EXISTS (SELECT FROM {schema}.vacancy) OR EXISTS (SELECT FROM {schema}.lane WHERE look_at <= coalesce(:now::timestamptz, now()))) AS found,
    CASE WHEN l.permits THEN (SELECT min(look_at) FROM {schema}.lane WHERE look_at > coalesce(:now::timestamptz, now())) END AS next
FROM (SELECT count(*) AS pauses, max(paused_at) AS last FROM {schema}.pause) AS p, (
    SELECT count(*) > 0 AS permits, coalesce(bool_or(t.rate > 0 AND t.ended_at IS NULL), false) AS rated
    FROM {schema}.job_limit AS t WHERE (t.by_key OR t.kind <> '') AND (t.queue = '' OR {in_queue(:queue::text, t.queue)})
) AS l
