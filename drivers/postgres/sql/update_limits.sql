-- statement updateLimits, takes now ids owners concurrencies rates pers bursts weights stricts, returns name revision
-- Changes limits, whose scope stays.
UPDATE {schema}.job_limit AS l
SET revision = greatest(nextval('{schema_text}.token'), l.revision + 1), owner = n.owner, concurrency = n.concurrency, rate = n.rate, per_us = n.per_us,
    burst = n.burst, weights = n.weights, strict = n.strict, updated_at = coalesce(:now::timestamptz, now())
FROM unnest(:ids::bigint[], :owners::text[], :concurrencies::integer[], :rates::integer[], :pers::bigint[], :bursts::integer[], :weights::text[], :stricts::boolean[])
    AS n (id, owner, concurrency, rate, per_us, burst, weights, strict)
WHERE l.id = n.id
RETURNING l.name, l.revision
