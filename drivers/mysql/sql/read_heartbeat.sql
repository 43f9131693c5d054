-- statement readHeartbeat, returns store token node accepted lost_at now releases next_expiry
-- The answer to a heartbeat: how far the store has come, the instant, whether dependents of ended jobs are to be released, and when
-- the first lease of another node expires.
SELECT p.store, p.token, p.node, p.accepted, p.lost_at, :now AS now, ({statement(find_release)}) AS releases, ({statement(find_next_expiry)}) AS next_expiry
FROM ({statement(read_position)}) AS p
