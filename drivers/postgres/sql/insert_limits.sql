-- statement insertLimits, takes now names owners queues kinds by_keys concurrencies rates pers bursts weights stricts created_ats, returns name revision
-- Inserts limits. Revisions are tokens, so that they also grow after a name was deleted.
INSERT INTO {schema}.job_limit (name, owner, revision, queue, kind, by_key, concurrency, rate, per_us, burst, weights, strict, created_at, updated_at)
SELECT n.name, n.owner, nextval('{schema_text}.token'), n.queue, n.kind, n.by_key, n.concurrency, n.rate, n.per_us, n.burst, n.weights, n.strict,
    coalesce(n.created_at, coalesce(:now::timestamptz, now())), coalesce(:now::timestamptz, now())
FROM unnest(:names::text[], :owners::text[], :queues::text[], :kinds::text[], :by_keys::boolean[], :concurrencies::integer[], :rates::integer[],
    :pers::bigint[], :bursts::integer[], :weights::text[], :stricts::boolean[], :created_ats::timestamptz[])
    AS n (name, owner, queue, kind, by_key, concurrency, rate, per_us, burst, weights, strict, created_at)
RETURNING name, revision
