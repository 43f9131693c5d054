-- release: frees a lock that its owner still holds, but not before an instant. Returns 1, or 0 if the lock was lost.
--
-- ARGV[2]  the lock's value    ARGV[3]  the instant, ms since 1970

local rest = tonumber(ARGV[3]) - now
if not own(ARGV[2]) then return 0 end
if rest > 0 then hold(rest) else redis.call('DEL', KEYS[1]) end
return 1
