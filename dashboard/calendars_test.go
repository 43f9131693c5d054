package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
)

// TestPagesCalendars makes, changes and deletes a calendar by its form.
func TestPagesCalendars(t *testing.T) {
	b := newBench(t)
	put := func(more url.Values) int {
		t.Helper()
		form := url.Values{
			"action": {"put"}, "name": {"holidays"}, "tz": {"Europe/Prague"}, "dates": {"12-24..01-01\r\n2090-05-01 May Day\r\n"}, "weekdays": {"sat, sun"},
			"rules": {"* 0-6 * * *"},
		}
		for name, values := range more {
			form[name] = values
		}
		return b.post("change-calendar", form).StatusCode
	}
	b.contains("the form", b.ok("edit-calendar"), "New calendar", `name="dates"`, `name="rules"`)
	if status := put(nil); status != http.StatusSeeOther {
		t.Fatalf("put: status %d", status)
	}
	stored, err := b.client.Calendars.Get(b.ctx(), "holidays")
	b.must(err)
	if len(stored.Dates) != 2 || stored.Dates[1] != "2090-05-01 May Day" || len(stored.Weekdays) != 2 || len(stored.Rules) != 1 || stored.Zone != "Europe/Prague" {
		t.Errorf("stored is %+v", stored)
	}
	b.contains("calendars", b.ok("calendars"), `href="calendar?name=holidays"`, `href="edit-calendar"`)
	b.contains("a calendar", b.ok("calendar?name=holidays"), "May Day", `href="edit-calendar?name=holidays"`, "audit?subject=calendar:holidays")
	for name, more := range map[string]url.Values{
		"a date that is none": {"name": {"x"}, "dates": {"12-44"}}, "a rule that is none": {"name": {"x"}, "rules": {"* *"}}, "a zone that is none": {"name": {"x"}, "tz": {"Nowhere"}},
		"no name": {"name": {""}}, "an unknown action": {"action": {"drop"}}, "a revision that is none": {"revision": {"x"}},
	} {
		if status := put(more); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, status)
		}
	}
	if status := put(nil); status != http.StatusConflict {
		t.Errorf("a new calendar with the name of another: status %d", status)
	}
	revision := []string{fmt.Sprint(stored.Revision)}
	if status := put(url.Values{"revision": revision, "tz": {""}}); status != http.StatusSeeOther {
		t.Errorf("a change: status %d", status)
	}
	if status := put(url.Values{"revision": revision, "tz": {"UTC"}}); status != http.StatusConflict { // of the revision before
		t.Errorf("a change of what was changed: status %d", status)
	}
	b.put("s", "works", func(s *hourbell.Schedule) { s.Exclude = []hourbell.Calendar{hourbell.StoredCalendar("holidays")} })
	remove := url.Values{"action": {"delete"}, "name": {"holidays"}}
	if status := b.post("change-calendar", remove).StatusCode; status != http.StatusBadRequest {
		t.Errorf("a calendar that is used: status %d", status)
	}
	b.must(b.client.Schedules.Delete(b.ctx(), []string{"s"}))
	b.role = access.Viewer
	if status := b.post("change-calendar", remove).StatusCode; status != http.StatusForbidden {
		t.Errorf("a viewer: status %d", status)
	}
	if body := b.ok("calendars") + b.ok("calendar?name=holidays"); strings.Contains(body, "edit-calendar") {
		t.Error("a viewer is offered a form")
	}
	b.role = access.Operator
	if status := b.post("change-calendar", remove).StatusCode; status != http.StatusSeeOther {
		t.Errorf("delete: status %d", status)
	}
	if status, _ := b.get("edit-calendar?name=holidays"); status != http.StatusNotFound {
		t.Errorf("a calendar that was deleted: status %d", status)
	}
}
