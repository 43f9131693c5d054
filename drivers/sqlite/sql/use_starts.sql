-- statement UseStarts
-- Takes from jobs the starts that they hold.
UPDATE hourbell_job SET permits = (SELECT json_group_array(p.value) FROM json_each(permits) AS p WHERE p.value > 0)
WHERE id IN (SELECT value FROM json_each(:ids))
