-- statement RaiseCounter
-- Raises a counter.
UPDATE hourbell_counter SET value = greatest(value, :value) WHERE name = :name
