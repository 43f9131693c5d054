-- Changes a pause, which is locked, so that no other server of the cluster changes it.
UPDATE hourbell_pause FORCE INDEX (PRIMARY) SET touched = (touched + 1) % 100 WHERE subject = :subject AND name = :name
