-- Every script begins with this.
--
-- KEYS[1]  the lock, as ShedLock knows it: there while the lock is held; its value names the holder
-- KEYS[2]  the state of the name, a hash: token, slot, anchor, interval, granted
-- ARGV[1]  the clock of a test in ms since 1970, or '' for the server's
--
-- Under the clock of a test the lock's key does not end by itself; the state's field test_until then says when it would.

local testing = ARGV[1] ~= ''
local microseconds
if testing then
  microseconds = tonumber(ARGV[1]) * 1000
else
  local time = redis.call('TIME')
  microseconds = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local now = math.floor(microseconds / 1000)

-- left is for how many ms the lock is held from now on; 0 if it is free, and -1 if it has no end.
local function left()
  local ms = redis.call('PTTL', KEYS[1])
  if ms == -2 then return 0 end
  local test_until = testing and redis.call('HGET', KEYS[2], 'test_until')
  if test_until then return math.max(tonumber(test_until) - now, 0) end
  if ms == -1 then return -1 end
  return math.max(ms, 1) -- its last millisecond has begun: it is still there
end

-- hold sets the end of a key that is there.
local function hold(ms)
  if testing then
    redis.call('HSET', KEYS[2], 'test_until', string.format('%.0f', now + ms))
  else
    redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ms))
  end
end

-- own says whether the lock is held by the one whose value this is.
local function own(value)
  return redis.call('GET', KEYS[1]) == value and left() ~= 0
end

-- record is all that is known of the name.
local function record()
  local fields = redis.call('HMGET', KEYS[2], 'token', 'slot', 'anchor', 'interval', 'granted')
  for i = 1, #fields do fields[i] = fields[i] or '' end
  local ms = left()
  return { now, ms, ms ~= 0 and redis.call('GET', KEYS[1]) or '', unpack(fields) }
end
