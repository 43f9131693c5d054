-- Prevents other transactions from changing handlers; reading goes on.
LOCK TABLE {schema}.handler IN SHARE ROW EXCLUSIVE MODE
