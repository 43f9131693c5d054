package main

import (
	"strconv"
	"strings"
	"testing"
)

// TestGroupSelects checks that --group selects jobs, schedules and slots.
func TestGroupSelects(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "nightly", "--cron", "0 3 * * *", "--group", "reports", "--", "true")
	b.ok("schedules", "put", "hourly", "--cron", "0 * * * *", "--", "true")
	triggered := strings.TrimSpace(b.ok("schedules", "trigger", "nightly"))
	own := strings.TrimSpace(b.ok("enqueue", "report", "--group", "reports"))
	other := strings.TrimSpace(b.ok("enqueue", "report"))
	if got := b.objects("jobs", "list", "--group", "reports"); len(got) != 2 || got[1]["id"] != number(t, triggered) || got[0]["group"] != "reports" {
		t.Errorf("a schedule's job has the group of the schedule, and --group selects: %v", got)
	}
	if got := b.objects("schedules", "list", "--group", "reports"); len(got) != 1 || got[0]["name"] != "nightly" {
		t.Errorf("schedules of the group: %v", got)
	}
	if got := b.ok("jobs", "cancel", "--group", "reports"); !strings.Contains(got, "2 jobs") {
		t.Errorf("jobs cancel --group: %s", got)
	}
	if got := b.objects("jobs", "show", other); got[0]["state"] != "ready" || got[0]["group"] != nil {
		t.Errorf("a job without the group: %v", got)
	}
	if got := b.objects("jobs", "show", own); got[0]["state"] != "cancelled" {
		t.Errorf("a job of the group: %v", got)
	}
	if got := b.objects("slots", "--group", "reports"); len(got) != 0 {
		t.Errorf("slots of the group: %v", got)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
