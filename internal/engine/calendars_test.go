package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// counting counts the reads of calendars.
type counting struct {
	*memory.Store
	reads atomic.Int32
}

func (c *counting) List(ctx context.Context, req store.ListRequest) (store.Listing, error) {
	if req.Of == store.OfCalendars {
		c.reads.Add(1)
	}
	return c.Store.List(ctx, req)
}

// Firing reads calendars only when a schedule that names one, or such a calendar, has changed.
func TestCalendarsAreReadWhenTheyChange(t *testing.T) {
	backend := &counting{Store: memory.New()}
	put := func(name string, exclude ...plan.Calendar) {
		t.Helper()
		d := plan.Definition{Rule: recur.Spec{Every: "100ms"}, Kind: "k", Queue: "q", Priority: 5, MaxAttempts: 1, Overlap: plan.OverlapAllow, Exclude: exclude}
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		_, err = backend.PutSchedules(t.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: name, Definition: text, Calendars: d.StoredNames()}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	edit := func(spec recur.CalendarSpec) {
		t.Helper()
		text, err := plan.EncodeCalendar(spec)
		if err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "the calendar is put", func() bool {
			_, err := backend.Put(t.Context(), store.PutRequest{Calendars: []store.PutCalendar{{Name: "c", Definition: text}}})
			return err == nil
		})
	}
	put("plain", plan.Calendar{Name: "own", CalendarSpec: recur.CalendarSpec{Dates: []string{"2001-01-01"}}})
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	waitUntil(t, "it fires", func() bool { return n.count(event.SlotFired) > 3 })
	if reads := backend.reads.Load(); reads != 0 {
		t.Errorf("calendars were read %d times for a schedule that names none", reads)
	}
	edit(recur.CalendarSpec{Dates: []string{"2001-01-01"}})
	put("s", plan.Calendar{Name: "c", Stored: true})
	fired := n.count(event.SlotFired)
	waitUntil(t, "both fire", func() bool { return n.count(event.SlotFired) > fired+10 })
	if reads := backend.reads.Load(); reads != 1 {
		t.Errorf("a calendar was read %d times while it did not change", reads)
	}
	edit(recur.CalendarSpec{Weekdays: []string{"0", "1", "2", "3", "4", "5", "6"}})
	waitUntil(t, "it excludes", func() bool { return n.count(event.SlotSkipped) > 2 })
	edit(recur.CalendarSpec{})
	skipped := n.count(event.SlotSkipped)
	time.Sleep(300 * time.Millisecond)
	if more := n.count(event.SlotSkipped) - skipped; more > 1 {
		t.Errorf("%d slots were skipped after the calendar excluded nothing any more", more)
	}
	if reads := backend.reads.Load(); reads != 3 {
		t.Errorf("calendars were read %d times for three states", reads)
	}
}
