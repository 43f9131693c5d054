-- statement FindRelease, returns found
-- Whether dependents of ended jobs are to be released.
SELECT EXISTS (SELECT 1 FROM hourbell_release) AS found
