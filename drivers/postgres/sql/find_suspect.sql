-- statement findSuspect, takes now queue, returns found
-- Reports whether a claim of suspects may find a job. It does not compare kinds.
SELECT EXISTS (
    SELECT FROM {schema}.job WHERE state = 0 AND losses >= 2 AND queue = :queue::text AND NOT running AND run_at <= coalesce(:now::timestamptz, now())
) AS found
