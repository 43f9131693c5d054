package main

import (
	"strings"
	"testing"
)

func TestCalendars(t *testing.T) {
	b := newBench(t)
	equal(t, "put", b.ok("calendars", "put", "holidays", "--dates", "2026-12-24,12-25 Christmas Day", "--ranges", "12-31..01-01"), "calendar \"holidays\": revision 1\n")
	b.ok("calendars", "put", "weekends", "--weekdays", "sat,sun", "--tz", "Europe/Prague")
	put := b.objects("calendars", "put", "nights", "--rule", "* 0-6 * * *", "--rule", "0 12 * * 1,3")
	if len(put) != 1 || put[0]["name"] != "nights" || put[0]["revision"] != 3.0 {
		t.Errorf("put: %v", put)
	}
	list := b.objects("calendars", "list")
	if len(list) != 3 || list[0]["dates"].([]any)[2] != "12-31..01-01" || list[1]["rules"].([]any)[1] != "0 12 * * 1,3" || list[2]["tz"] != "Europe/Prague" {
		t.Errorf("list: %v", list)
	}
	if table := b.ok("calendars", "list"); !strings.Contains(table, "12-25 Christmas Day, 12-31..01-01") {
		t.Errorf("table: %s", table)
	}
	if page := b.objects("calendars", "list", "--after", "holidays", "--limit", "1"); len(page) != 1 || page[0]["name"] != "nights" {
		t.Errorf("a page: %v", page)
	}

	b.ok("schedules", "put", "bill", "--cron", "0 8 * * *", "--exclude", "holidays", "--exclude", "sat,sun", "--exclude", "0 8 1 * *", "--kind", "bill")
	one := b.objects("schedules", "show", "bill")[0]
	if got := one["exclude"].([]any); len(got) != 2 || got[0] != "holidays" || got[1] != "sat, sun | 0 8 1 * *" {
		t.Errorf("exclude: %v", got)
	}
	shown := b.ok("calendars", "show", "holidays")
	if !strings.Contains(shown, "12-25 Christmas Day") || !strings.Contains(shown, "bill") {
		t.Errorf("show: %s", shown)
	}
	if users := b.objects("schedules", "list", "--calendar", "holidays"); len(users) != 1 || users[0]["name"] != "bill" {
		t.Errorf("its schedules: %v", users)
	}
	b.fails(exitUsage, []string{"holidays", `"bill"`, "remove it from"}, "calendars", "delete", "holidays")
	b.ok("schedules", "edit", "bill", "--exclude", "12-24..12-26", "--exclude", "nights")
	if got := b.objects("schedules", "show", "bill")[0]["exclude"].([]any); len(got) != 2 || got[0] != "nights" || got[1] != "12-24..12-26" {
		t.Errorf("exclude after an edit: %v", got)
	}
	b.ok("schedules", "edit", "bill", "--exclude", "")
	if got := b.objects("schedules", "show", "bill")[0]["exclude"].([]any); len(got) != 0 {
		t.Errorf("exclude after it was cleared: %v", got)
	}
	equal(t, "delete", b.ok("calendars", "delete", "holidays", "nights"), "calendar \"holidays\": deleted\ncalendar \"nights\": deleted\n")
	b.fails(exitFailed, []string{"holidays", "not found"}, "calendars", "delete", "weekends", "holidays")
	b.fails(exitUsage, []string{"exclude", "holidays", "calendars put", "weekends"}, "schedules", "put", "x", "--every", "1h", "--exclude", "holidays", "--kind", "k")
}

func TestCalendarsOfAFile(t *testing.T) {
	b := newBench(t)
	writeFile(t, "c.yaml", "calendars:\n  holidays: {dates: [2026-12-25]}\n  nights: {rules: [{cron: \"* 0-6 * * *\"}]}\n")
	equal(t, "one", b.ok("calendars", "put", "nights", "--file", "c.yaml"), "calendar \"nights\": revision 1\n")
	equal(t, "all", b.ok("calendars", "put", "--file", "c.yaml"), "calendar \"holidays\": revision 2\ncalendar \"nights\": revision 1\n")
	b.stdin = "calendars: {holidays: {dates: [2026-12-24]}}"
	b.ok("calendars", "put", "--file", "-", "--if-revision", "2")
	b.fails(exitFailed, []string{"holidays", "changed by someone else"}, "calendars", "put", "holidays", "--file", "c.yaml", "--if-revision", "2")

	// A schedule file may name a stored calendar, unless the file has a
	// calendar of that name.
	writeFile(t, "s.yaml", "owner: o\ncalendars:\n  nights: {weekdays: [sun]}\nschedules:\n  - {name: a, cron: \"0 1 * * *\", kind: k, exclude: [holidays, nights, 2026-12-26]}\n")
	b.ok("apply", "s.yaml")
	if got := b.objects("schedules", "show", "a")[0]["exclude"].([]any); len(got) != 3 || got[0] != "nights" || got[1] != "holidays" || got[2] != "2026-12-26" {
		t.Errorf("exclude: %v", got)
	}
	checked := b.ok("check", "s.yaml")
	if !strings.Contains(checked, "except  nights | holidays (a stored calendar, not looked at) | 2026-12-26") {
		t.Errorf("check: %s", checked)
	}
	writeFile(t, "typo.yaml", "owner: p\nschedules:\n  - {name: b, cron: \"0 1 * * *\", kind: k, exclude: hollidays}\n")
	b.fails(exitUsage, []string{"exclude", "hollidays", "there are holidays, nights"}, "apply", "typo.yaml")

	// A crontab may name it too.
	writeFile(t, "ops.tab", "#hourbell: exclude=\"sat,sun | 12-24..12-26\" name=backup\n0 2 * * * backup\n")
	if checked := b.ok("check", "--crontab", "ops.tab"); !strings.Contains(checked, "except  12-24..12-26, sat, sun") {
		t.Errorf("check of a crontab: %s", checked)
	}
	if written := b.ok("import", "--crontab", "ops.tab"); !strings.Contains(written, `exclude: ["12-24..12-26, sat, sun"]`) {
		t.Errorf("import: %s", written)
	}
}

func TestNextAndExplainExclude(t *testing.T) {
	b := newBench(t)
	next := func(args ...string) string {
		return b.ok(append([]string{"next", "--cron", "0 9 * * *", "--from", "2026-12-23T12:00:00Z", "--count", "3"}, args...)...)
	}
	equal(t, "dates and days", next("--exclude", "2026-12-24..2026-12-26", "--exclude", "sun"), "2026-12-28T09:00:00Z\n2026-12-29T09:00:00Z\n2026-12-30T09:00:00Z\n")
	equal(t, "a date", next("--exclude", "2026-12-25"), "2026-12-24T09:00:00Z\n2026-12-26T09:00:00Z\n2026-12-27T09:00:00Z\n")
	equal(t, "a rule", next("--exclude", "0 9 * * 1-5"), "2026-12-26T09:00:00Z\n2026-12-27T09:00:00Z\n2027-01-02T09:00:00Z\n")
	b.ok("calendars", "put", "holidays", "--dates", "12-24,12-25")
	equal(t, "a stored calendar", next("--exclude", "holidays"), "2026-12-26T09:00:00Z\n2026-12-27T09:00:00Z\n2026-12-28T09:00:00Z\n")
	b.fails(exitUsage, []string{"exclude", "holiday", "calendars list"}, "next", "--cron", "0 9 * * *", "--exclude", "holiday")
	b.fails(exitUsage, []string{"exclude", "2026-12-32"}, "next", "--cron", "0 9 * * *", "--exclude", "2026-12-32")

	explain := func(args ...string) (told []string) {
		t.Helper()
		for _, slot := range b.objects(append([]string{"explain", "--from", "2026-12-24T00:00:00Z", "--to", "2026-12-28T00:00:00Z"}, args...)...) {
			reason, _ := slot["reason"].(string)
			told = append(told, slot["outcome"].(string)+" "+reason)
		}
		return told
	}
	want := "skipped calendar: holidays excludes date 12-24, skipped calendar: holidays excludes date 12-25, skipped calendar: own excludes weekday Saturday, fired "
	equal(t, "a rule", strings.Join(explain("--cron", "0 9 * * *", "--exclude", "holidays,sat"), ", "), want)
	b.ok("schedules", "put", "s", "--cron", "0 9 * * *", "--exclude", "holidays,sat", "--kind", "k")
	equal(t, "a schedule", strings.Join(explain("s"), ", "), want)
	equal(t, "a schedule without", strings.Join(explain("s", "--exclude", ""), ", "), "fired , fired , fired , fired ")
	b.ok("calendars", "put", "holidays", "--dates", "12-27")
	equal(t, "when the calendar has changed", strings.Join(explain("s"), ", "), "fired , fired , skipped calendar: own excludes weekday Saturday, skipped calendar: holidays excludes date 12-27")
}
