-- statement insertEvents, takes now type subjects slots counts reasons
-- Stores events of one type, if events are kept.
INSERT INTO {schema}.event (at, type, subjects, slots, counts, reasons)
SELECT coalesce(:now::timestamptz, now()), :type::smallint, :subjects::bigint[], :slots::timestamptz[], :counts::bigint[], :reasons::text[]
WHERE EXISTS (SELECT FROM {schema}.feed WHERE one AND keep_us > 0)
