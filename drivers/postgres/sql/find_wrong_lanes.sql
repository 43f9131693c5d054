-- statement findWrongLanes, takes lanes limit, returns id held starts
-- Lanes whose number of permits in use, or of starts that no claim has used, is not what jobs hold and what was given back, with the
-- latter numbers, at most :limit; if :lanes is not empty, only of these lanes. All numbers are of the snapshot of the statement. Nothing
-- is joined, because a join in the wrong order would take long.
SELECT x.lane AS id, sum(x.held) AS held, sum(x.held_starts) AS starts
FROM (
    SELECT l.id, l.used, l.starts, 0, 0, true FROM {schema}.lane AS l
    UNION ALL
    SELECT abs(p.lane), 0, 0, (p.lane > 0)::int, (p.lane < 0)::int, false
    FROM (
        SELECT unnest(j.permits) FROM {schema}.job AS j WHERE j.permits IS NOT NULL
        UNION ALL
        SELECT unnest(v.lanes) FROM {schema}.vacancy AS v
    ) AS p (lane)
) AS x (lane, used, starts, held, held_starts, there)
WHERE :lanes::bigint[] = '{}' OR x.lane = ANY (:lanes::bigint[])
GROUP BY x.lane HAVING bool_or(x.there) AND (sum(x.used) <> sum(x.held) OR sum(x.starts) <> sum(x.held_starts))
ORDER BY x.lane LIMIT :limit
