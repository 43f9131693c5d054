-- shared statement updateRelease
-- Records how far the dependents of an ended job are released.
UPDATE hourbell_release SET done_to = :done_to WHERE id = :id
