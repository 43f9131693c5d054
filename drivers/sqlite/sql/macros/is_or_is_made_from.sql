-- Schedule.IsOrIsMadeFrom: the number of a schedule, and a name. The schedules of hosts have the name and @ as
-- prefix.
$1 IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = $2 UNION ALL
    SELECT s.id FROM hourbell_schedule AS s WHERE s.name >= $2 || '@' AND s.name < $2 || 'A' AND s.owner = 'every:' || $2)
