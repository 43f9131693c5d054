-- release: frees a lock that its owner still holds, but not before its at-least time is over. Returns 1, or 0 if the lock was
-- lost.
--
-- ARGV[2]  the lock's value    ARGV[3]  when it is over, ms since 1970    ARGV[4]  for how many ms it goes on by the owner's clock

local rest = math.min(tonumber(ARGV[3]) - now, tonumber(ARGV[4]))
if not own(ARGV[2]) then return 0 end
if rest > 0 then hold(rest) else redis.call('DEL', KEYS[1]) end
tell()
return 1
