-- Prevents other transactions from changing limits; reading goes on.
LOCK TABLE {schema}.job_limit IN SHARE ROW EXCLUSIVE MODE
