-- statement findPauseWork, takes now, returns found
-- Reports whether a pause has ended, or due jobs of paused groups are to be parked.
SELECT EXISTS (SELECT FROM {schema}.pause AS p WHERE CASE WHEN p.until <= coalesce(:now::timestamptz, now()) THEN true ELSE p.subject = 0 AND EXISTS (
    SELECT FROM {schema}.job AS j
    WHERE j.group_name = p.name AND j.state IN (0, -2, -3) AND j.run_at <= coalesce(:now::timestamptz, now()) AND NOT j.running) END) AS found
