package main

import (
	"strings"
	"testing"
)

// TestKeySelects checks that jobs and schedules are given keys, and that --key selects jobs.
func TestKeySelects(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "nightly", "--cron", "0 3 * * *", "--key", "c7", "--", "true")
	triggered := strings.TrimSpace(b.ok("schedules", "trigger", "nightly"))
	b.ok("enqueue", "report", "--key", "c7")
	b.ok("enqueue", "report")
	if got := b.objects("jobs", "list", "--key", "c7"); len(got) != 2 || got[1]["id"] != number(t, triggered) || got[0]["key"] != "c7" {
		t.Errorf("a schedule's job has the key of the schedule, and --key selects: %v", got)
	}
	if got := b.objects("schedules", "show", "nightly"); got[0]["key"] != "c7" {
		t.Errorf("the schedule: %v", got)
	}
	if got := b.ok("jobs", "show", triggered); !strings.Contains(got, "key") || !strings.Contains(got, "c7") {
		t.Errorf("jobs show: %s", got)
	}
	b.fails(2, []string{"key"}, "enqueue", "report", "--key", "")
}
