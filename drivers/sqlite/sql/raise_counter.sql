-- statement RaiseCounter
-- Raises a counter.
UPDATE hourbell_counter SET value = max(value, :value) WHERE name = :name
