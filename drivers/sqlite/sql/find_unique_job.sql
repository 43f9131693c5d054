-- The living job of a kind with a key, or 0.
SELECT coalesce((SELECT id FROM hourbell_job WHERE kind = :kind AND unique_key = :unique), 0) AS id
