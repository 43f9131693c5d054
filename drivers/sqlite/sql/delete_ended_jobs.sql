DELETE FROM hourbell_job WHERE id IN (SELECT value ->> 'id' FROM jsonb_each(:ends))
