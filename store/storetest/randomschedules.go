package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var (
	scheduleNamesOf = []string{"a", "b", "c", "d", "e", "f", "g", "h", "ä", "Z"}
	owners          = []string{"", "one", "two"}
	groupNames      = []string{"g", "grüppe"}
	jobKeys         = []string{"c", "ü"}
)

// someSchedule returns a schedule's number, also of a deleted one, or 0.
func (w *world) someSchedule() int64 {
	return w.names.scheduleByName[pick(w, scheduleNamesOf...)]
}

// rows reads the reference's schedules.
func (w *world) rows(names ...string) []store.Schedule {
	rows, err := store.List[store.Schedule](w.ctx, w.model, store.ListRequest{Names: names, Deleted: true, Limit: 100})
	w.must(err)
	return rows
}

// somePuts returns puts of different names.
func (w *world) somePuts(n int) []store.PutSchedule {
	var puts []store.PutSchedule
	for range n {
		name := pick(w, scheduleNamesOf...)
		if slices.ContainsFunc(puts, func(p store.PutSchedule) bool { return p.Name == name }) {
			continue
		}
		definition := w.rng.IntN(3)
		put := store.PutSchedule{Name: name, Definition: fmt.Append(nil, "{ } ", definition), Calendars: calendarsOf(definition), Paused: w.chance(5)}
		if definition > 0 {
			put.Group = groupNames[definition-1]
		}
		if rows := w.rows(name); len(rows) == 1 && w.chance(4) {
			put.IfRevision = rows[0].Revision
			if w.chance(3) {
				put.IfRevision++
			}
		}
		puts = append(puts, put)
	}
	return puts
}

func (w *world) put() {
	w.putBoth(store.PutSchedulesRequest{Now: w.now, Owner: pick(w, "", "", owners[1]), Schedules: w.somePuts(1 + w.rng.IntN(2))})
}

func (w *world) sync() {
	owner := pick(w, owners[1:]...)
	req := store.PutSchedulesRequest{
		Now: w.now, Owner: owner, Sync: true, SyncRevision: max(0, w.revs[owner]+int64(w.rng.IntN(4))-1), Schedules: w.somePuts(w.rng.IntN(4)),
		Host: pick(w, "", "", "h1", "h2"), Path: pick(w, "", "p"),
	}
	switch {
	case req.Host == "":
		req.Path = ""
	case w.chance(4):
		req.Path, req.Schedules, req.Gone = "", nil, true
	case w.chance(2):
		req.SyncRevision = w.revs[owner] // the copies decide
	}
	if w.putBoth(req) {
		w.revs[owner] = max(w.revs[owner], w.ownersBoth(owner))
	}
}

// ownersBoth compares the owners, and returns the revision of an owner.
func (w *world) ownersBoth(name string) (revision int64) {
	req := store.ListRequest{Limit: 10}
	want, err := store.List[store.Owner](w.ctx, w.model, req)
	w.must(err)
	got, err := store.List[store.Owner](w.ctx, w.client, req)
	w.must(err)
	w.compare("ListOwners", req, got, want)
	for _, owner := range want {
		if owner.Name == name {
			revision = owner.Revision
		}
	}
	return revision
}

// putBoth puts into both stores and pairs new schedules.
func (w *world) putBoth(req store.PutSchedulesRequest) bool {
	req.By = w.someone()
	want, wantErr := w.model.PutSchedules(w.ctx, req)
	sent := req
	sent.Schedules = nil
	for _, put := range req.Schedules {
		put.IfRevision = w.realRevision(put)
		put.Definition = clone(put.Definition)
		sent.Schedules = append(sent.Schedules, put)
	}
	got, gotErr := w.client.PutSchedules(w.ctx, sent)
	if !w.agree("PutSchedules", req, gotErr, wantErr, false) {
		return false
	}
	if want.Kept == nil {
		w.pairSchedules(req.Schedules)
	}
	for i, put := range req.Schedules {
		if i < len(got.Revisions) {
			got.Revisions[i] = w.revision(put.Name, got.Revisions[i], want.Revisions[i])
		}
	}
	if len(got.Revisions) == 0 {
		got.Revisions = nil
	}
	slices.Sort(got.Edited)
	slices.Sort(want.Edited)
	w.compare("PutSchedules", req, got, want)
	w.auditBoth(req.By)
	return true
}

func (w *world) realRevision(put store.PutSchedule) int64 {
	id := w.names.scheduleByName[put.Name]
	return of(w.names.revisions, id).real(put.IfRevision)
}

// pairSchedules records new schedules.
func (w *world) pairSchedules(puts []store.PutSchedule) {
	for _, put := range puts {
		if w.names.scheduleByName[put.Name] != 0 {
			continue
		}
		model := w.rows(put.Name)
		real, err := store.List[store.Schedule](w.ctx, w.client, store.ListRequest{Names: []string{put.Name}, Deleted: true, Limit: 2})
		w.must(err)
		w.compare("ListSchedules", put.Name, len(real), len(model))
		w.names.schedules.add(real[0].ID, model[0].ID)
		w.names.scheduleByName[put.Name] = model[0].ID
	}
}

// revision translates a revision, which must be greater than all earlier
// revisions if it is new.
func (w *world) revision(name string, real, model int64) int64 {
	id := w.names.scheduleByName[name]
	known := of(w.names.revisions, id)
	if _, ok := known.toReal[model]; !ok {
		if real <= w.names.lastRevision[id] {
			w.fail(fmt.Sprintf("PutSchedules: a new revision of %q must be greater than the last: %d after %d", name, real, w.names.lastRevision[id]))
		}
		w.names.lastRevision[id] = real
		known.add(real, model)
	}
	return known.model(real)
}

func (w *world) changeSchedules() {
	req := store.ChangeSchedulesRequest{Now: w.now, Action: pick(w, store.PauseSchedules, store.PauseSchedules,
		store.ResumeSchedules, store.ResumeSchedules, store.DeleteSchedules, store.ResetSchedules)}
	if w.chance(2) {
		req.Until = w.now.Add(w.within(time.Minute))
	}
	for range 1 + w.rng.IntN(2) {
		if name := pick(w, scheduleNamesOf...); !slices.Contains(req.Names, name) {
			req.Names = append(req.Names, name)
		}
	}
	w.changeSchedulesBoth(req)
}

// reset moves a mark back, mostly so that slots which have fired are due again.
func (w *world) reset() {
	w.changeSchedulesBoth(store.ChangeSchedulesRequest{
		Now: w.now.Add(-w.within(4 * time.Minute)), Action: store.ResetSchedules, Names: []string{pick(w, scheduleNamesOf...)},
	})
}

func (w *world) changeSchedulesBoth(req store.ChangeSchedulesRequest) {
	req.By = w.someone()
	want := w.model.ChangeSchedules(w.ctx, req)
	got := w.client.ChangeSchedules(w.ctx, req)
	if w.agree("ChangeSchedules", req, got, want, len(req.Names) == 1) {
		w.compare("ChangeSchedules", req, nil, nil)
	}
	w.auditBoth(req.By)
}

func (w *world) due() {
	req := store.DueSchedulesRequest{Now: w.now, Limit: 1 + w.rng.IntN(12)}
	if w.chance(3) {
		req.Names = []string{pick(w, scheduleNamesOf...), pick(w, scheduleNamesOf...)}
	}
	want, err := w.model.DueSchedules(w.ctx, req)
	w.must(err)
	got, err := w.client.DueSchedules(w.ctx, req)
	w.must(err)
	if len(req.Names) > 0 {
		got.Next, want.Next = time.Time{}, time.Time{}
	}
	for i := range got.Schedules {
		got.Schedules[i] = w.names.modelSchedule(got.Schedules[i])
	}
	if len(want.Schedules) == req.Limit { // which of several schedules due at one time are returned is free
		for _, rows := range [][]store.Schedule{got.Schedules, want.Schedules} {
			for i := range rows {
				rows[i] = store.Schedule{NextAt: rows[i].NextAt}
			}
		}
	} else {
		sortDue(got.Schedules)
		sortDue(want.Schedules)
	}
	if len(got.Schedules) == 0 {
		got.Schedules = nil
	}
	if len(want.Schedules) == 0 {
		want.Schedules = nil
	}
	w.compare("DueSchedules", req, got, want)
}

// sortDue orders schedules that are due at the same time.
func sortDue(rows []store.Schedule) {
	slices.SortStableFunc(rows, func(a, b store.Schedule) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.ID, b.ID))
	})
}

// fire makes firings of schedules that are mostly due; some are decided from
// values that differ from the row. At most one firing has jobs, so that jobs
// are numbered in the same order in both stores.
func (w *world) fire() {
	rows := w.rows()
	w.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	req := store.FireRequest{Now: w.now}
	if w.chance(4) {
		req.Until = w.now.Add(w.within(time.Minute) - 10*time.Second)
	}
	if w.chance(2) {
		req.Ahead = w.within(store.MostAhead)
	}
	jobs := true
	for _, row := range rows {
		due := row.DeletedAt.IsZero() && !row.NextAt.IsZero() && !row.NextAt.After(w.now.Add(req.Ahead))
		if !due && !w.chance(15) {
			continue
		}
		f := w.firing(row, jobs)
		jobs = jobs && len(f.Jobs) == 0
		req.Firings = append(req.Firings, f)
		if len(req.Firings) == 4 {
			break
		}
	}
	w.fireBoth(req)
	w.pairMade("Fire", req)
}

func (w *world) fireBoth(req store.FireRequest) {
	want, err := w.model.Fire(w.ctx, req)
	w.must(err)
	got, err := w.client.Fire(w.ctx, w.realFire(req))
	w.must(err)
	var busy []int64
	for _, id := range got.Busy {
		busy = append(busy, w.names.schedules.model(id))
	}
	slices.Sort(busy)
	slices.Sort(want.Busy)
	w.compare("Fire, busy", req, busy, want.Busy)
	want = sortFire(want)
	w.compare("Fire", req, w.names.modelFire(got, want), want)
}

// firing returns a firing that accounts for some slots of a schedule.
func (w *world) firing(row store.Schedule, jobs bool) store.Firing {
	f := firing(row, row.Mark, row.Mark.Add(time.Second+w.within(40*time.Second)))
	at := row.NextAt
	if at.Before(row.Mark) {
		at = row.Mark
	}
	if w.chance(2) {
		r := store.SlotRecord{
			Slot: at, Last: at.Add(w.within(time.Second)), Count: 1 + w.rng.Int64N(5),
			Outcome: pick(w, store.SlotMissed, store.SlotSkipped), Reason: pick(w, "x", "ü"),
		}
		if r.Count == 1 {
			r.Last = at
		}
		r.Extend = w.mayExtend(row, r)
		f.Slots = append(f.Slots, r)
		at = r.Last.Add(2 * time.Microsecond)
	}
	for range w.rng.IntN(3) {
		if !jobs {
			break
		}
		if fired, ok := w.firedSince(row, at); ok && !w.chance(4) {
			at = fired
		}
		j := w.someJob()
		j.Schedule, j.Slot, j.RunAt, j.Origin, j.Waiting = row.ID, at, at, store.OriginSchedule, false
		f.Jobs = append(f.Jobs, j)
		at = at.Add(2*time.Microsecond + w.within(time.Second))
	}
	f.Overlap = pick(w, store.OverlapSkip, store.OverlapSkip, store.OverlapAllow, store.OverlapQueue, store.OverlapReplace)
	if f.NewMark.Before(at) {
		f.NewMark = at
	}
	f.NewNextAt = f.NewMark.Add(2*time.Microsecond + w.within(40*time.Second))
	if w.chance(3) {
		f.After = w.someFollowUp()
	}
	f.Events = w.someEvents(row, at)
	switch w.rng.IntN(40) {
	case 0:
		f.NewNextAt = time.Time{}
	case 1:
		f.Revision++
	case 2:
		f.Mark = f.Mark.Add(-2 * time.Microsecond)
	case 3:
		f.NextAt = f.NextAt.Add(2 * time.Microsecond)
	}
	return f
}

// firedSince returns the first slot after a time that has fired before; there
// is one only if the mark was moved back.
func (w *world) firedSince(row store.Schedule, from time.Time) (time.Time, bool) {
	slots, err := store.List[store.SlotInfo](w.ctx, w.model, store.ListRequest{Names: []string{row.Name}, From: from, Limit: 10000})
	w.must(err)
	for _, s := range slices.Backward(slots) {
		if s.Outcome == store.SlotFired {
			return s.Slot, true
		}
	}
	return time.Time{}, false
}

// mayExtend reports whether it is unambiguous which record Extend extends;
// sometimes it returns false anyway.
func (w *world) mayExtend(row store.Schedule, r store.SlotRecord) bool {
	newest, err := store.List[store.SlotInfo](w.ctx, w.model, store.ListRequest{Names: []string{row.Name}, Limit: 2})
	w.must(err)
	if len(newest) == 2 && newest[0].Slot.Equal(newest[1].Slot) || w.chance(3) {
		return false
	}
	return len(newest) == 0 || newest[0].Last.Before(r.Slot)
}

// realFire translates firings.
func (w *world) realFire(req store.FireRequest) store.FireRequest {
	out := store.FireRequest{Now: req.Now, Until: req.Until, Ahead: req.Ahead}
	for _, f := range req.Firings {
		f.Revision = of(w.names.revisions, f.Schedule).real(f.Revision)
		f.Schedule = w.names.schedules.real(f.Schedule)
		f.Slots = slices.Clone(f.Slots)
		var jobs []store.NewJob
		for _, j := range f.Jobs {
			jobs = append(jobs, w.realJob(j))
		}
		f.Jobs, f.After = jobs, w.realFollowUp(f.After)
		out.Firings = append(out.Firings, f)
	}
	return out
}

func (w *world) listSlots() {
	req := store.ListRequest{Limit: 10000}
	if w.chance(2) {
		req.Names = []string{pick(w, scheduleNamesOf...)}
	}
	if w.chance(2) {
		req.From = w.now.Add(-w.within(2 * time.Minute))
	}
	if w.chance(2) {
		req.To = w.now.Add(-w.within(time.Minute))
	}
	w.slotsBoth(req)
	w.newestBoth()
	w.selectedBoth()
}

// selectedBoth compares the names of schedules that are selected by their jobs or their marks.
func (w *world) selectedBoth() {
	req := store.ListRequest{Failed: w.chance(2), Deleted: w.chance(2), Limit: 1000}
	if w.chance(2) {
		req.MarkAfter = w.now.Add(-w.within(2 * time.Minute))
	}
	want, err := store.List[store.Schedule](w.ctx, w.model, req)
	w.must(err)
	got, err := store.List[store.Schedule](w.ctx, w.client, req)
	w.must(err)
	names := func(rows []store.Schedule) (names []string) {
		for _, row := range rows {
			names = append(names, row.Name)
		}
		return names
	}
	w.compare("ListSchedules", req, names(got), names(want))
}

// newestBoth compares the records of some schedules.
func (w *world) newestBoth() {
	var model, real []int64
	for range 2 {
		if id := w.someSchedule(); id != 0 && !slices.Contains(model, id) {
			model, real = append(model, id), append(real, w.names.schedules.real(id))
		}
	}
	if len(model) == 0 {
		return
	}
	want, err := store.List[store.SlotInfo](w.ctx, w.model, store.ListRequest{IDs: model, Limit: 10000})
	w.must(err)
	got, err := store.List[store.SlotInfo](w.ctx, w.client, store.ListRequest{IDs: real, Limit: 10000})
	w.must(err)
	w.compare("ListSlots", model, w.names.modelSlots(got), sortSlots(want))
}

// slotsBoth compares records; the store's are read in pages.
func (w *world) slotsBoth(req store.ListRequest) {
	want, err := store.List[store.SlotInfo](w.ctx, w.model, req)
	w.must(err)
	var got []store.SlotInfo
	page := req
	page.Limit = max(1, len(want)/2)
	for {
		rows, err := store.List[store.SlotInfo](w.ctx, w.client, page)
		w.must(err)
		if len(rows) == 0 || len(got) > len(want) {
			break
		}
		got = append(got, rows...)
		last := rows[len(rows)-1]
		page.Before = last.Cursor()
	}
	w.compare("ListSlots", req, w.names.modelSlots(got), sortSlots(want))
}
