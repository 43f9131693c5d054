-- shared statement raiseTokens
-- Raises the counter of tokens above its value and above the values that were reported.
UPDATE hourbell_counter SET value = greatest(value, (SELECT seen_token FROM hourbell_timeline)) + :margin WHERE name = 'token'
