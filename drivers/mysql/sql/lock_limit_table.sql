-- Prevents other transactions from changing limits; reading goes on.
UPDATE hourbell_counter SET value = value + 1 WHERE name = 'limit'
