package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

var weekend = recur.CalendarSpec{Weekdays: []string{"sat", "sun"}}

// A definition contains only the name of a stored calendar, in a form that is refused by releases
// that know only calendars inside definitions.
func TestStoredCalendarsAreKeptByName(t *testing.T) {
	d := Definition{Kind: "k", Exclude: []Calendar{
		{Name: "holidays", Stored: true, CalendarSpec: weekend}, {Name: "nights", CalendarSpec: recur.CalendarSpec{Rules: []recur.Spec{{Cron: "* 0-6 * * *"}}}},
	}}
	text, err := d.Encode()
	if want := []byte(`"exclude":["holidays",{"name":"nights","rules":[{"cron":"* 0-6 * * *"}]}]`); err != nil || !bytes.Contains(text, want) {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	got, err := DecodeDefinition(text)
	d.Exclude[0].CalendarSpec = recur.CalendarSpec{}
	if err != nil || !reflect.DeepEqual(got.Exclude, d.Exclude) {
		t.Errorf("read as %+v, %v", got.Exclude, err)
	}
	var older struct {
		Exclude []struct {
			Name string `json:"name"`
			recur.CalendarSpec
		} `json:"exclude"`
	}
	if err := json.Unmarshal(text, &older); err == nil {
		t.Errorf("a release that knows no stored calendars reads %+v", older)
	}
}

// A calendar with fields that this release does not know is refused.
func TestCalendarsOfNewerReleasesAreRefused(t *testing.T) {
	text, err := EncodeCalendar(weekend)
	if got, decodeErr := DecodeCalendar(text); err != nil || decodeErr != nil || !reflect.DeepEqual(got, weekend) {
		t.Errorf("%s is read as %+v, %v", text, got, decodeErr)
	}
	if got, err := DecodeCalendar([]byte(`{"weekdays":["sat"],"moons":["full"]}`)); err == nil {
		t.Errorf("read as %+v", got)
	}
}

// counting counts the reads of calendars.
type counting struct {
	store.Backend
	reads atomic.Int32
}

func (c *counting) ListCalendars(ctx context.Context, req store.ListCalendarsRequest) ([]store.Calendar, error) {
	c.reads.Add(1)
	return c.Backend.ListCalendars(ctx, req)
}

// Firing reads calendars only when a schedule that names one, or such a calendar, has changed.
func TestCalendarsAreReadWhenTheyChange(t *testing.T) {
	backend := &counting{Backend: memory.New()}
	put := func(name string, exclude ...Calendar) {
		t.Helper()
		d := Definition{Rule: recur.Spec{Every: "100ms"}, Kind: "k", Queue: "q", Priority: 5, MaxAttempts: 1, Overlap: OverlapAllow, Exclude: exclude}
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
		text, err := EncodeCalendar(spec)
		if err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "the calendar is put", func() bool {
			_, err := backend.PutCalendars(t.Context(), store.PutCalendarsRequest{Calendars: []store.PutCalendar{{Name: "c", Definition: text}}})
			return err == nil
		})
	}
	put("plain", Calendar{Name: "own", CalendarSpec: recur.CalendarSpec{Dates: []string{"2001-01-01"}}})
	n := startNode(t, backend, func(context.Context, *Run) error { return nil })
	waitUntil(t, "it fires", func() bool { return n.count(event.SlotFired) > 3 })
	if reads := backend.reads.Load(); reads != 0 {
		t.Errorf("calendars were read %d times for a schedule that names none", reads)
	}
	edit(recur.CalendarSpec{Dates: []string{"2001-01-01"}})
	put("s", Calendar{Name: "c", Stored: true})
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
