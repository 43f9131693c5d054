-- statement findEnds, returns id state finished_at reason
-- How finished jobs ended.
SELECT id, state, {micros(h.finished_at)} AS finished_at, reason FROM hourbell_history AS h FORCE INDEX (PRIMARY) WHERE id IN (:ids) {share}
