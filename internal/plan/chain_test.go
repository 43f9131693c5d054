package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// TestFollow is the rule of edges between schedules as a table: outcomes × edges × delays ×
// pauses × bounds.
func TestFollow(t *testing.T) {
	end := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC) // 25 hours later Prague's clock has changed
	success, failure, either := Edge{Schedule: "export"}, Edge{Schedule: "export", On: store.OnFailure}, Edge{Schedule: "export", On: store.OnEither}
	with := func(e Edge, change func(*Edge)) Edge {
		change(&e)
		return e
	}
	delayed := with(success, func(e *Edge) { e.Delay = 25 * time.Hour })
	ignoring := with(either, func(e *Edge) { e.IgnoreCancelled = true })
	paused := func(row *store.Schedule, _ *Definition, _ *store.ScheduleEnd) { row.PausedAt = end.Add(-time.Hour) }
	pausedUntil := func(row *store.Schedule, _ *Definition, _ *store.ScheduleEnd) {
		row.PausedAt, row.PausedUntil = end.Add(-time.Hour), end
	}
	predecessorPaused := func(_ *store.Schedule, _ *Definition, e *store.ScheduleEnd) { e.Paused = true }
	failing := func(row *store.Schedule, d *Definition, _ *store.ScheduleEnd) { row.Failures, d.PauseAfter = 3, 3 }
	counted := func(row *store.Schedule, d *Definition, _ *store.ScheduleEnd) { row.Fired, d.Count = 2, 2 }
	stopped := func(_ *store.Schedule, d *Definition, _ *store.ScheduleEnd) { d.Rule.Stop = "2026-03-28 11:59" }
	notYet := func(_ *store.Schedule, d *Definition, _ *store.ScheduleEnd) { d.Rule.Start = "2026-03-28 12:01" }
	within := func(_ *store.Schedule, d *Definition, _ *store.ScheduleEnd) {
		d.Rule = recur.Spec{Start: "2026-03-28 13:00", Stop: "2026-03-28 13:00", Zone: "Europe/Prague"}
	}
	otherName := func(_ *store.Schedule, _ *Definition, e *store.ScheduleEnd) { e.After = "other" }
	const nothing, job = "nothing", "job"
	for _, test := range []struct {
		edge  Edge
		state store.State
		given func(*store.Schedule, *Definition, *store.ScheduleEnd)
		want  string // nothing, job with its delay, or the reason of a record
	}{
		{success, store.StateCompleted, nil, job + " 0s"},
		{success, store.StateFailed, nil, "after: a job of export failed"},
		{success, store.StateCancelled, nil, "after: a job of export was cancelled"},
		{success, store.StateNotStarted, nil, "the root's reason"},
		{failure, store.StateCompleted, nil, "after: a job of export completed"},
		{failure, store.StateFailed, nil, job + " 0s"},
		{failure, store.StateCancelled, nil, job + " 0s"},
		{failure, store.StateNotStarted, nil, "the root's reason"},
		{either, store.StateCompleted, nil, job + " 0s"},
		{either, store.StateFailed, nil, job + " 0s"},
		{either, store.StateCancelled, nil, job + " 0s"},
		{either, store.StateNotStarted, nil, "the root's reason"},
		{ignoring, store.StateCancelled, nil, nothing},
		{ignoring, store.StateFailed, nil, job + " 0s"},
		{delayed, store.StateCompleted, nil, job + " 25h0m0s"},
		{success, store.StateCompleted, paused, "paused: the schedule was paused at 2026-03-28T11:00:00Z"},
		{success, store.StateFailed, paused, "paused: the schedule was paused at 2026-03-28T11:00:00Z"},
		{success, store.StateCompleted, pausedUntil, job + " 0s"},
		{success, store.StateCompleted, predecessorPaused, "paused: the schedule export was paused"},
		{success, store.StateCompleted, failing, "paused: 3 jobs in a row failed"},
		{success, store.StateCompleted, counted, nothing},
		{success, store.StateFailed, counted, nothing},
		{success, store.StateCompleted, stopped, nothing},
		{success, store.StateCompleted, notYet, nothing},
		{success, store.StateCompleted, within, job + " 0s"},
		{success, store.StateCompleted, otherName, nothing},
	} {
		row := store.Schedule{ID: 7, Name: "report", Mark: end.Add(-time.Minute), NextAt: end}
		definition := Definition{After: []Edge{test.edge}, Overlap: OverlapAllow}
		one := store.ScheduleEnd{Schedule: 7, Slot: end, After: "export", Ended: store.Ended{ID: 5, State: test.state, At: end, Reason: "the root's reason"}}
		if test.given != nil {
			test.given(&row, &definition, &one)
		}
		row.Definition, _ = definition.Encode()
		p, err := New(row, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := Resolve(row, p, nil, []store.ScheduleEnd{one}, end)
		got := nothing
		switch {
		case len(f.Jobs) == 1 && len(f.Slots) == 0:
			got = fmt.Sprintf("%s %v", job, f.Jobs[0].RunAt.Sub(end))
			if e := f.Jobs[0].After; len(e) != 1 || e[0].Job != 5 || !f.Jobs[0].Slot.Equal(end) {
				t.Errorf("the job has the slot %v and the edges %+v", f.Jobs[0].Slot, e)
			}
		case len(f.Slots) == 1 && len(f.Jobs) == 0:
			if got = f.Slots[0].Reason; len(f.NotStarted) != 1 || f.NotStarted[0].ID != 5 || f.NotStarted[0].Reason != got || f.Slots[0].Outcome != store.SlotNotStarted {
				t.Errorf("a schedule that is not started must pass that on: %+v", f)
			}
		case len(f.Slots)+len(f.Jobs) > 0:
			t.Errorf("an end makes one job or one record: %+v", f)
		}
		if got != test.want {
			t.Errorf("edge %+v, %v, %+v: got %q, want %q", test.edge, test.state, definition, got, test.want)
		}
		if !f.NewMark.Equal(end) || !f.Follows {
			t.Errorf("the end must be accounted for: %+v", f)
		}
	}
}

// TestFollowSeveralEnds: the count bounds the jobs of one decision, and an ended job makes one job.
func TestFollowSeveralEnds(t *testing.T) {
	at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	row := store.Schedule{ID: 7, Name: "report", Mark: at, NextAt: at, Fired: 1}
	row.Definition, _ = Definition{After: []Edge{{Schedule: "a", On: store.OnEither}}, Count: 3}.Encode()
	p, err := New(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ends []store.ScheduleEnd
	for i, id := range []int64{5, 6, 5, 8} {
		ends = append(ends, store.ScheduleEnd{Schedule: 7, Slot: at.Add(time.Duration(i + 1)), After: "a", Ended: store.Ended{ID: id, State: store.StateCompleted, At: at}})
	}
	f := p.Follow(row, ends)
	if len(f.Jobs) != 2 || f.Jobs[0].After[0].Job != 5 || f.Jobs[1].After[0].Job != 6 || !f.NewMark.Equal(ends[3].Slot) {
		t.Errorf("got %+v", f)
	}
	if !p.Ended(store.Schedule{Fired: 3}, at) || p.Ended(row, at) {
		t.Error("a schedule has ended when its count is reached")
	}
}
