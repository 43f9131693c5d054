-- take: grants the lock, or returns why it cannot be granted: {answer, record}.
--
-- ARGV[2]  owner               ARGV[4]  '' without a slot, else the token of the state that was read
-- ARGV[3]  hold in ms          ARGV[5…9]  from, until; slot, anchor and interval of the mark

local seen, from, till = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
if left() ~= 0 then return { 'held', record() } end

local token = redis.call('HGET', KEYS[2], 'token') or '0'
if seen ~= '' then
  if token ~= seen or now < from or now >= till then return { 'not due', record() } end
  redis.call('HSET', KEYS[2], 'slot', ARGV[7], 'anchor', ARGV[8], 'interval', ARGV[9],
    'granted', string.format('%.0f', now))
end

-- The clock's microseconds, so that tokens grow even if the state is lost; at least one greater than the last token.
token = string.format('%.0f', math.max(tonumber(token) + 1, microseconds))
redis.call('HSET', KEYS[2], 'token', token)
redis.call('SET', KEYS[1], string.format('ADDED:%.0f@%s', now, ARGV[2]))
hold(tonumber(ARGV[3]))
return { 'granted', record() }
