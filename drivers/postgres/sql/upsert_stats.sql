-- statement upsertStats, takes spans instants writers data
-- Stores rows of statistics.
INSERT INTO {schema}.stats (span, at, writer, data)
SELECT * FROM unnest(:spans::integer[], :instants::timestamptz[], :writers::bigint[], :data::bytea[])
ON CONFLICT (span, at, writer) DO UPDATE SET data = excluded.data
