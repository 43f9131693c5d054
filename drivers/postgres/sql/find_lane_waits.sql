-- statement findLaneWaits, takes now, returns found
-- Reports whether a lane has to be looked at now, or permits were given back and jobs may wait for them.
SELECT EXISTS (SELECT FROM {schema}.lane WHERE waiting) AND EXISTS (SELECT FROM {schema}.vacancy)
    OR EXISTS (SELECT FROM {schema}.lane WHERE look_at <= coalesce(:now::timestamptz, now())) AS found
