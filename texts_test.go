package hourbell_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
)

// TestErrorsSayThingsOnce checks the texts of errors whose name or call stood there twice.
func TestErrorsSayThingsOnce(t *testing.T) {
	client := newCluster(t).client(nil)
	ctx := t.Context()
	_, put := client.Schedules.Put(ctx, hourbell.Schedule{Name: "x", Rule: recur.Cron("61 * * * *"), Job: Note{}})
	_, several := client.Schedules.PutAll(ctx, "me", 0, []hourbell.Schedule{{Name: "x", Rule: recur.Cron("61 * * * *"), Job: Note{}}})
	_, calendar := client.Calendars.Put(ctx, hourbell.Calendar{Name: "x", CalendarSpec: recur.CalendarSpec{Dates: []string{"someday"}}}, 0)
	deleted := client.Limits.Delete(ctx, "x")
	kept := hourbell.Schedule{Name: "kept", Rule: recur.Cron("1 * * * *"), Job: Note{}, Revision: hourbell.OnlyNew}
	if _, err := client.Schedules.Put(ctx, kept); err != nil {
		t.Fatal(err)
	}
	_, again := client.Schedules.Put(ctx, kept)
	for begins, err := range map[string]error{
		`put schedule "x": cron "61 * * * *": minute "61"`: put, `put schedules: schedule "x": cron`: several, `put calendar "x": dates "someday": `: calendar, `delete limit "x": not found`: deleted,
		`put schedule "kept": exists already`: again,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), begins) || strings.Count(err.Error(), "delete limit") > 1 {
			t.Errorf("%v, want it to begin with %s", err, begins)
		}
	}
	if !errors.Is(deleted, hourbell.ErrNotFound) {
		t.Errorf("%v", deleted)
	}
}
