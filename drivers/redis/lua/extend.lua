-- extend: extends a lock that its owner still holds; it never shortens the hold. Returns 1, or 0 if the lock was lost.
--
-- ARGV[2]  the lock's value    ARGV[3]  hold in ms

local ms = tonumber(ARGV[3])
if not own(ARGV[2]) then return 0 end
local rest = left()
if rest >= 0 and rest < ms then hold(ms) end
return 1
