-- Inserts notes of jobs that may not have ended: a step looks them up.
INSERT INTO {schema}.release (ids, ended_at, states, reasons)
SELECT array_agg(id), :now::timestamptz, array_agg(0::smallint), array_agg(''::text) FROM unnest(:ids::bigint[]) AS o (id)
