-- Since when the context of the attempt has ended, if its worker was found not to return.
ALTER TABLE hourbell_progress ADD COLUMN stuck DATETIME(6);
