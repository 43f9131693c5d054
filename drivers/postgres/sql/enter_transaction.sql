-- statement enterTransaction, returns store instant seqscan hashjoin mergejoin bitmapscan jit
-- Prepares a caller's transaction for a change: the plans of the statements that follow do
-- not depend on statistics, and are not compiled (jit), which would take longer than they
-- run: a plan that reads a table of one row as a whole looks expensive while sequential
-- scans are off. Returns the store, the instant of the transaction's changes in
-- microseconds since 1970, and the settings that leave_transaction restores. All changes
-- of a transaction have the instant of the first, so that a schedule that the transaction
-- has put is not due for the next change.
WITH was AS MATERIALIZED (
    SELECT current_setting('enable_seqscan') AS seqscan, current_setting('enable_hashjoin') AS hashjoin,
        current_setting('enable_mergejoin') AS mergejoin, current_setting('enable_bitmapscan') AS bitmapscan,
        current_setting('jit') AS jit,
        coalesce(nullif(current_setting('hourbell.instant', true), '')::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS instant
), pinned AS MATERIALIZED (
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true), set_config('hourbell.instant', was.instant::text, true)
    FROM was
)
SELECT (SELECT store FROM {schema}.timeline) AS store, was.instant, was.seqscan, was.hashjoin, was.mergejoin, was.bitmapscan, was.jit
FROM was CROSS JOIN pinned
