-- Waits for the transactions that have locked pauses, and makes others wait.
UPDATE hourbell_counter SET value = value + 1 WHERE name = 'pause'
