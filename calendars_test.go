package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
)

func (c town) putCalendar(name string, spec recur.CalendarSpec) {
	c.t.Helper()
	if _, err := c.client().Calendars.Put(c.t.Context(), hourbell.Calendar{Name: name, CalendarSpec: spec}, 0); err != nil {
		c.t.Fatal(err)
	}
}

func rules(crons ...string) (spec recur.CalendarSpec) {
	for _, cron := range crons {
		spec.Rules = append(spec.Rules, recur.Spec{Cron: cron})
	}
	return spec
}

// TestCalendarEditsWhileNodesRing edits a calendar that many schedules share
// twice a second, every second time at the exact instant of a slot, while five
// nodes fire the slots. No slot fires twice, no slot is lost, and each slot is
// accounted for by the calendar as it was before the slot. While the call of an
// edit has not returned, either version of the calendar is correct.
func TestCalendarEditsWhileNodesRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const schedules, seconds = 20, 60
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 0)))
		calendars := []recur.CalendarSpec{rules("*/2 * * * * *"), rules("1-59/2 * * * * *"), rules("*/3 * * * * *"), {}}
		skips := []func(second int) bool{
			func(s int) bool { return s%2 == 0 }, func(s int) bool { return s%2 == 1 }, func(s int) bool { return s%3 == 0 }, func(int) bool { return false },
		}
		c.putCalendar("shared", calendars[0])
		var all []hourbell.Schedule
		for n := range schedules {
			all = append(all, hourbell.Schedule{
				Name: fmt.Sprint("s", n), Job: hourbell.RawArgs{Name: "k"}, Rule: recur.Spec{Cron: "* * * * * *"}, Overlap: hourbell.OverlapAllow,
				Exclude: []hourbell.Calendar{hourbell.StoredCalendar("shared")},
			})
		}
		if _, err := c.client().Schedules.PutAll(t.Context(), "", 0, all); err != nil {
			t.Fatal(err)
		}
		inForce := make([][]int, seconds+1) // the versions of the calendar that are correct for each second
		atOnce := 0
		var editing sync.WaitGroup
		editing.Go(func() {
			for n := 1; n < 2*seconds; n++ {
				begun := at(1, 0, 0).Add(time.Duration(n) * 500 * time.Millisecond)
				if n%4 == 1 {
					begun = begun.Add(-450 * time.Millisecond) // before the next slot fires ahead
				}
				time.Sleep(time.Until(begun))
				c.putCalendar("shared", calendars[n%len(calendars)])
				told := time.Now()
				if told.Equal(begun) {
					atOnce++
				}
				if told.After(begun.Add(time.Second)) {
					t.Errorf("an edit at %v was told at %v", begun, told)
				}
				for second := range inForce {
					switch slot := at(1, 0, 0).Add(time.Duration(second) * time.Second); {
					case slot.After(told):
						inForce[second] = []int{n % len(calendars)}
					case slot.After(begun):
						inForce[second] = append(inForce[second], n%len(calendars))
					}
				}
			}
		})
		c.until(at(1, 0, 1).Add(400*time.Millisecond), 5)
		editing.Wait()
		got := map[string]string{}
		filter := hourbell.SlotFilter{Limit: 10_000}
		slots, err := c.client().Slots.List(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, slot := range slots {
			for n := range slot.Count { // seconds apart at most, if several
				key := slot.ScheduleName + slot.Slot.Add(time.Duration(n)*time.Second).Format(" 15:04:05")
				got[key] += fmt.Sprint(slot.Outcome, " ", slot.Reason)
			}
		}
		if atOnce < seconds {
			t.Errorf("%d edits were told at once", atOnce)
		}
		for n := range schedules {
			for second := 1; second <= seconds; second++ {
				key := fmt.Sprint("s", n) + at(1, 0, 0).Add(time.Duration(second)*time.Second).Format(" 15:04:05")
				told := got[key]
				if !slices.ContainsFunc(inForce[second], func(calendar int) bool {
					skip := skips[calendar](second % 60)
					return skip && strings.HasPrefix(told, "skipped calendar: shared excludes") || !skip && told == "fired "
				}) {
					t.Errorf("%s: %q under calendar %d", key, told, inForce[second])
				}
			}
		}
	})
}

// TestSlotsBeforeACalendarsEditAreAccountedForByTheOldOne edits a calendar
// while no node lives: slots that were due before are accounted for by the old
// version, also the slots of a schedule that no node has read yet.
func TestSlotsBeforeACalendarsEditAreAccountedForByTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 30)))
		c.putCalendar("c", rules("* 2 * * *"))
		c.put(hourbell.Schedule{
			Rule: recur.Spec{Cron: "0 * * * *"}, Misfire: hourbell.MisfireAll, Overlap: hourbell.OverlapAllow, Exclude: []hourbell.Calendar{hourbell.StoredCalendar("c")},
		})
		time.Sleep(time.Until(at(1, 3, 30)))
		c.putCalendar("c", rules("* 5 * * *"))
		c.wantTold("01:00:00 fired", "02:00:00 skipped calendar", "03:00:00 fired")
		time.Sleep(time.Until(at(1, 6, 30)))
		c.until(at(1, 7, 1), 1)
		c.wantTold("01:00:00 fired", "02:00:00 skipped calendar", "03:00:00 fired", "04:00:00 fired", "05:00:00 skipped calendar", "06:00:00 fired", "07:00:00 fired")
	})
}

// TestStoredCalendarsAreHonoured checks that the excluded times of a stored
// calendar are shown wherever a schedule is read.
func TestStoredCalendarsAreHonoured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(2, 9, 30)))
		nights := recur.CalendarSpec{Rules: []recur.Spec{{Cron: "* 0-9 * * *"}}}
		c.putCalendar("nights", nights)
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "0 8,10 * * *"}, Exclude: []hourbell.Calendar{hourbell.StoredCalendar("nights")}})
		info, err := c.client().Schedules.Get(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if want := []hourbell.Calendar{{Name: "nights", Stored: true, CalendarSpec: nights}}; !reflect.DeepEqual(info.Exclude, want) {
			t.Errorf("excludes %+v, want %+v", info.Exclude, want)
		}
		if !info.NextAt.Equal(at(2, 10, 0)) {
			t.Errorf("next at %v", info.NextAt)
		}
		explained, err := info.Explain(hourbell.ExplainRequest{From: at(1, 0, 0), To: at(2, 0, 0)})
		if err != nil || len(explained.Slots) != 2 || explained.Slots[0].Outcome != "skipped" || explained.Slots[1].Outcome != "fired" {
			t.Errorf("explained as %+v, %v", explained.Slots, err)
		}
		made, err := c.client().Schedules.Backfill(t.Context(), "s", hourbell.BackfillRequest{From: at(1, 0, 0), To: at(2, 0, 0)})
		if err != nil || len(made.Slots) != 1 || !made.Slots[0].Equal(at(1, 10, 0)) {
			t.Errorf("backfilled %v, %v", made.Slots, err)
		}
		c.until(at(3, 9, 0), 1)
		c.wantTold("10:00:00 fired", "08:00:00 skipped calendar")
		info.Group = "what was read can be put again"
		if _, err := c.client().Schedules.Put(t.Context(), info.Schedule); err != nil {
			t.Error(err)
		}
	})
}

func TestCalendarsAreNamed(t *testing.T) {
	ctx := context.Background()
	client := newCluster(t).client(nil)
	holidays := hourbell.Calendar{Name: "holidays", CalendarSpec: recur.CalendarSpec{Dates: []string{"12-25"}}}
	named := func(name, calendar string) error {
		_, err := client.Schedules.Put(ctx, hourbell.Schedule{Name: name, Job: hourbell.RawArgs{Name: "k"}, Rule: recur.Spec{Cron: "@daily"}, Exclude: []hourbell.Calendar{hourbell.StoredCalendar(calendar)}})
		return err
	}
	var field *check.FieldError
	if err := named("s", "holidays"); !errors.As(err, &field) || field.Field != "exclude" || !strings.Contains(err.Error(), "there is none yet") {
		t.Errorf("a calendar that is not there: %v", err)
	}
	saved, err := client.Calendars.Put(ctx, holidays, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := named("s", "holiday"); !errors.As(err, &field) || field.Value != "holiday" || !strings.Contains(err.Error(), "there are holidays") {
		t.Errorf("a calendar that is not there: %v", err)
	}
	for i := range 5 {
		if err := named(fmt.Sprint("s", i), "holidays"); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Calendars.Delete(ctx, "holidays"); !errors.As(err, &field) || !strings.Contains(err.Error(), `"s0", "s1", "s2", and others`) {
		t.Errorf("a calendar in use: %v", err)
	}
	before, err := client.Schedules.Get(ctx, "s0")
	if err != nil {
		t.Fatal(err)
	}
	holidays.Dates = []string{"12-24"}
	if _, err := client.Calendars.Put(ctx, holidays, saved.Revision+1000); !errors.Is(err, hourbell.ErrConflict) {
		t.Errorf("another revision: %v", err)
	}
	if saved, err = client.Calendars.Put(ctx, holidays, saved.Revision); err != nil || !saved.Changed || !slices.Equal(saved.Now.Dates, holidays.Dates) {
		t.Errorf("a change: %+v, %v", saved, err)
	}
	before.Group = "g"
	if _, err := client.Schedules.Put(ctx, before.Schedule); !errors.Is(err, hourbell.ErrConflict) {
		t.Errorf("an edit of a schedule that was read before its calendar changed: %v", err)
	}
	infos, err := client.Calendars.List(ctx, hourbell.CalendarFilter{})
	if err != nil || len(infos) != 1 || infos[0].Name != "holidays" || !infos[0].Stored || infos[0].Dates[0] != "12-24" {
		t.Errorf("listed as %+v, %v", infos, err)
	}
	for i := range 5 {
		if err := client.Schedules.Delete(ctx, []string{fmt.Sprint("s", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Calendars.Delete(ctx, "holidays"); err != nil {
		t.Error(err)
	}
	if err := client.Calendars.Delete(ctx, "holidays"); !errors.Is(err, hourbell.ErrNotFound) {
		t.Errorf("a calendar that is gone: %v", err)
	}
	for _, name := range []string{"", "sat", "2026-12-25", "a,b", "a | b", "* * * * *", "every day", "own", "mon-fri", "12-25 Christmas"} {
		if _, err := client.Calendars.Put(ctx, hourbell.Calendar{Name: name}, 0); !errors.As(err, &field) || field.Field != "name" {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	if res, err := client.Calendars.PutAll(ctx, []hourbell.Calendar{holidays, {Name: "sites of 2027"}}); err != nil || res.Changed != 2 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestParseExclude(t *testing.T) {
	got, err := hourbell.ParseExclude("holidays, sat", "* 0-6 * * *", "2026-12-25")
	want := []hourbell.Calendar{
		{Name: "holidays", Stored: true},
		{Name: "own", CalendarSpec: recur.CalendarSpec{Dates: []string{"2026-12-25"}, Weekdays: []string{"sat"}, Rules: []recur.Spec{{Cron: "* 0-6 * * *"}}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "2026-13-01", "a,a"} {
		if got, err := hourbell.ParseExclude(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
