-- Lanes whose number of permits in use is not the number of permits that jobs hold and that were given back, with the latter number,
-- at most :limit; if :lanes is not empty, only of these lanes. All numbers are of the snapshot of the statement. Nothing is joined,
-- because a join in the wrong order would take long.
SELECT x.lane AS id, sum(x.held) AS held
FROM (
    SELECT l.id, l.used, 0, true FROM {schema}.lane AS l
    UNION ALL
    SELECT unnest(j.permits), 0, 1, false FROM {schema}.job AS j WHERE j.permits IS NOT NULL
    UNION ALL
    SELECT unnest(v.lanes), 0, 1, false FROM {schema}.vacancy AS v
) AS x (lane, used, held, there)
WHERE :lanes::bigint[] = '{}' OR x.lane = ANY (:lanes::bigint[])
GROUP BY x.lane HAVING bool_or(x.there) AND sum(x.used) <> sum(x.held)
ORDER BY x.lane LIMIT :limit::bigint
