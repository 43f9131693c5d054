-- The numbers of a claim's jobs are read and deleted within seconds: compressing
-- them costs more than it saves.
ALTER TABLE {schema}.lease ALTER COLUMN ids SET STORAGE EXTERNAL;
