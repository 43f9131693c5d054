-- Schedule.IsOrIsMadeFrom: the number of a schedule, and a name. The schedules of hosts have the name and @ as
-- prefix.
$1 = ANY (ARRAY(SELECT id FROM {schema}.schedule
    WHERE name = $2 OR owner = 'every:' || $2 AND name >= $2 || '@' AND name < $2 || 'A'))
