-- The beginning of every script.
--
-- KEYS[1]  the lock's key, as ShedLock uses it: it exists while the lock is held; its value names the holder
-- KEYS[2]  the state of the name, a hash: token, slot, anchor, interval, granted
-- ARGV[1]  the clock of a test in ms since 1970, or '' for the server's clock
--
-- With the clock of a test the lock's key does not expire; the state's field test_until then is the instant of its end.

local testing = ARGV[1] ~= ''
local microseconds
if testing then
  microseconds = tonumber(ARGV[1]) * 1000
else
  local time = redis.call('TIME')
  microseconds = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local now = math.floor(microseconds / 1000)

-- left returns for how many ms the lock stays held; 0 if it is free, and -1 if it has no end.
local function left()
  local ms = redis.call('PTTL', KEYS[1])
  if ms == -2 then return 0 end
  local test_until = testing and redis.call('HGET', KEYS[2], 'test_until')
  if test_until then return math.max(tonumber(test_until) - now, 0) end
  if ms == -1 then return -1 end
  return math.max(ms, 1) -- pttl 0: the key expires within this millisecond and still exists
end

-- hold sets the end of an existing key.
local function hold(ms)
  if testing then
    redis.call('HSET', KEYS[2], 'test_until', string.format('%.0f', now + ms))
  else
    redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ms))
  end
end

-- own reports whether the lock is held with this value.
local function own(value)
  return redis.call('GET', KEYS[1]) == value and left() ~= 0
end

-- record returns all data about the name.
local function record()
  local fields = redis.call('HMGET', KEYS[2], 'token', 'slot', 'anchor', 'interval', 'granted')
  for i = 1, #fields do fields[i] = fields[i] or '' end
  local ms = left()
  return { now, ms, ms ~= 0 and redis.call('GET', KEYS[1]) or '', unpack(fields) }
end

-- tell publishes that the lock was released. A user without the right to the channel is no error: callers that wait poll.
local function tell()
  redis.pcall('PUBLISH', 'hourbell:released:' .. KEYS[1], '')
end

