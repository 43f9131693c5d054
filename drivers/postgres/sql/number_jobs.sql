-- statement numberJobs, takes count, returns ids
-- Takes :count numbers for jobs, in one row.
SELECT array_agg(nextval('{schema_text}.job_id_seq'))::text AS ids FROM generate_series(1, :count::bigint)
