-- Which of these jobs were not started.
SELECT h.id FROM hourbell_history AS h FORCE INDEX (PRIMARY) WHERE h.id IN (:ids) AND h.state = 6
