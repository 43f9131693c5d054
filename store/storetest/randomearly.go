package storetest

import "time"

// firedTo compares up to when some schedules have fired early.
func (w *world) firedTo() {
	now, names := w.now.Add(-w.within(2*time.Second)), []string{"none"}
	for range w.rng.IntN(4) {
		names = append(names, pick(w, scheduleNamesOf...))
	}
	want, err := firedTo(w.ctx, w.model, now, names)
	w.must(err)
	got, err := firedTo(w.ctx, w.client, now, names)
	w.must(err)
	w.compare("FiredTo", names, got, want)
}
