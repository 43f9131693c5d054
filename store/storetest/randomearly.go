package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// firedTo compares up to when some schedules have fired early.
func (w *world) firedTo() {
	req := store.ListRequest{Now: w.now.Add(-w.within(2 * time.Second)), Names: []string{"none"}, Deleted: true, Limit: 9}
	for range w.rng.IntN(4) {
		req.Names = append(req.Names, pick(w, scheduleNamesOf...))
	}
	firedTo := func(s store.Backend) time.Time {
		rows, err := store.List[store.Schedule](w.ctx, s, req)
		w.must(err)
		var marks []time.Time
		for _, row := range rows {
			marks = append(marks, row.Mark)
		}
		return store.LatestFiredTo(marks, req.Now)
	}
	w.compare("FiredTo", req, firedTo(w.client), firedTo(w.model))
}
