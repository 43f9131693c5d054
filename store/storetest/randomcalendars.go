package storetest

import (
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/store"
)

var calendarNamesOf = []string{"c0", "c1", "ä"}

// calendarsOf returns the calendars that a schedule's definition names in the
// random run.
func calendarsOf(definition int) []string { return calendarNamesOf[:definition] }

func (w *world) putCalendars() {
	req := store.PutRequest{Now: w.now, By: w.someone()}
	for range 1 + w.rng.IntN(2) {
		name := pick(w, calendarNamesOf...)
		if !slices.ContainsFunc(req.Calendars, func(p store.PutCalendar) bool { return p.Name == name }) {
			req.Calendars = append(req.Calendars, store.PutCalendar{Name: name, Definition: fmt.Append(nil, w.rng.IntN(3))})
		}
	}
	want, wantErr := w.model.Put(w.ctx, req)
	got, gotErr := w.client.Put(w.ctx, req)
	if !w.agree("PutCalendars", req, gotErr, wantErr, true) {
		return
	}
	slices.Sort(got.Revised)
	slices.Sort(want.Revised)
	w.compare("PutCalendars", req, []any{got.Changed, len(got.Revisions), got.Revised}, []any{want.Changed, len(want.Revisions), want.Revised})
	w.pairRevisions()
	w.auditBoth(req.By)
}

// pairRevisions records the new revisions of schedules.
func (w *world) pairRevisions() {
	real, err := store.List[store.Schedule](w.ctx, w.client, store.ListRequest{Deleted: true, Limit: 1000})
	w.must(err)
	model := w.rows()
	w.compare("ListSchedules", nil, len(real), len(model))
	for i, row := range real {
		got := w.revision(row.Name, row.Revision, model[i].Revision)
		w.compare("the revision after PutCalendars", row.Name, got, model[i].Revision)
	}
}

func (w *world) deleteCalendars() {
	req := store.DeleteRequest{Of: store.OfCalendars, Now: w.now, Names: []string{pick(w, calendarNamesOf...)}, By: w.someone()}
	w.agree("DeleteCalendars", req, w.client.Delete(w.ctx, req), w.model.Delete(w.ctx, req), true)
	w.auditBoth(req.By)
}

func (w *world) calendarsBoth() {
	req := store.ListRequest{Limit: 10}
	want, err := store.List[store.Calendar](w.ctx, w.model, req)
	w.must(err)
	got, err := store.List[store.Calendar](w.ctx, w.client, req)
	w.must(err)
	for i := range want {
		want[i].Revision = 0
	}
	for i := range got {
		got[i].Revision = 0
	}
	w.compare("ListCalendars", req, got, want)
	for _, name := range calendarNamesOf {
		req := store.ListRequest{Calendar: name, Limit: 100}
		want, err := store.List[store.Schedule](w.ctx, w.model, req)
		w.must(err)
		got, err := store.List[store.Schedule](w.ctx, w.client, req)
		w.must(err)
		w.compare("ListSchedules", req, scheduleNames(got), scheduleNames(want))
	}
}
