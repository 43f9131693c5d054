-- Leaves the jobs $4 in a locked batch.
UPDATE {schema}.history_batch SET jobs = cardinality($4::bigint[]), ids = $4::bigint[]
WHERE failed = $1::boolean AND finished_at = $2::timestamptz AND id = $3::bigint
