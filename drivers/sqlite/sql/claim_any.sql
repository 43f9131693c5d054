-- Whether a claim would find anything.
SELECT EXISTS (
  SELECT 1 FROM json_each('[1,2,3,4,5,6,7,8,9]') AS p
  WHERE EXISTS (
    SELECT 1 FROM hourbell_job
    WHERE state = 0 AND queue = :queue AND priority = p.value AND run_at <= :now
      AND (kind IN (SELECT value FROM json_each(:kinds))
        OR kind IN (SELECT value ->> 'kind' FROM jsonb_each(:exact))                                      -- if exact
          AND (kind, args) IN (SELECT value ->> 'kind', substr(:bytes, value ->> 'at', value ->> 'len')   -- if exact
                               FROM jsonb_each(:exact))                                                   -- if exact
      )))
