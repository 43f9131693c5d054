-- scan: returns a page of the matching keys: {next cursor, keys}.
--
-- ARGV[1]  cursor    ARGV[2]  pattern

return redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
