-- statement leaveTransaction, takes seqscan hashjoin mergejoin bitmapscan jit
-- Restores the settings of a caller's transaction, which enter_transaction has changed.
WITH restored AS MATERIALIZED (
    SELECT set_config('enable_seqscan', :seqscan::text, true), set_config('enable_hashjoin', :hashjoin::text, true),
        set_config('enable_mergejoin', :mergejoin::text, true), set_config('enable_bitmapscan', :bitmapscan::text, true),
        set_config('jit', :jit::text, true)
)
SELECT FROM restored
