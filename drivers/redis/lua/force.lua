-- force: frees a lock regardless of its holder, and removes a mark that lies in the future. Returns 1, or 0 if the name
-- is unknown.

if redis.call('EXISTS', unpack(KEYS)) == 0 then return 0 end
redis.call('DEL', KEYS[1])
tell()
if tonumber(redis.call('HGET', KEYS[2], 'granted') or now) > now then
  redis.call('HDEL', KEYS[2], 'slot', 'anchor', 'interval', 'granted')
end
return 1
