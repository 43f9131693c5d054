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

// TestGroupsPause checks the pause of a group.
func TestGroupsPause(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "nightly", "--cron", "0 3 * * *", "--group", "reports", "--", "true")
	if got := b.ok("groups", "pause", "reports", "--reason", "repair"); got != "group \"reports\": paused\n" {
		t.Errorf("groups pause: %q", got)
	}
	group := b.objects("groups", "list")[0]
	if group["paused_at"] == nil || group["pause_reason"] != "repair" || !strings.Contains(group["paused_by"].(string), "@") || group["paused_until"] != nil {
		t.Errorf("groups list: %v", group)
	}
	if got := b.objects("schedules", "show", "nightly")[0]; got["state"] != "paused" || got["group_paused_at"] == nil || got["paused_at"] != nil {
		t.Errorf("a schedule of the group: %v", got)
	}
	r := b.run("schedules", "trigger", "nightly")
	id := strings.TrimSpace(r.out)
	if r.code != 0 || !strings.Contains(r.err, `job `+id+` waits: its group "reports" is paused`) {
		t.Errorf("a trigger in a paused group: %+v", r)
	}
	job := b.objects("jobs", "show", id)[0]
	if waits, _ := job["waits"].(string); job["state"] != "ready" || !strings.HasPrefix(waits, "group reports is paused since ") {
		t.Errorf("a job of the group: %v", job)
	}
	if got := b.ok("groups", "pause", "later", "--until", "2999-03-01T09:00:00Z"); !strings.Contains(got, "paused until 2999-03-01") {
		t.Errorf("the pause of a group that does not exist yet: %q", got)
	}
	b.ok("groups", "resume", "reports")
	b.work()
	if job := b.objects("jobs", "show", id)[0]; job["state"] != "completed" {
		t.Errorf("the job after the pause: %v", job)
	}
	if got := b.ok("groups", "resume", "reports"); !strings.Contains(got, "was not paused") {
		t.Errorf("a second resume: %q", got)
	}
	b.fails(1, []string{`"typo"`, "not found"}, "groups", "resume", "typo")
	b.fails(2, []string{"until"}, "groups", "pause", "g", "--until", "soon")
}

// TestGroups checks the verbs of a group.
func TestGroups(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "nightly", "--cron", "0 3 * * *", "--group", "reports", "--max-attempts", "1", "--", "false")
	b.ok("schedules", "put", "weekly", "--cron", "0 3 * * 0", "--group", "reports", "--", "true")
	b.ok("schedules", "put", "hourly", "--cron", "0 * * * *", "--", "true")
	triggered := b.objects("groups", "trigger", "reports")
	if len(triggered) != 2 || triggered[0]["schedule"] != "nightly" || triggered[0]["id"] == nil {
		t.Errorf("groups trigger: %v", triggered)
	}
	got := b.objects("groups", "list")
	if len(got) != 1 || got[0]["name"] != "reports" || got[0]["schedules"] != 2.0 || got[0]["ready"] != 2.0 {
		t.Errorf("groups list: %v", got)
	}
	b.work()
	if got := b.ok("groups", "retry", "reports"); !strings.Contains(got, "1 job: ready to run again") {
		t.Errorf("groups retry: %s", got)
	}
	if got := b.ok("groups", "cancel", "reports", "--dry-run"); !strings.Contains(got, "1 job: cancelled") {
		t.Errorf("groups cancel --dry-run: %s", got)
	}
	if got := b.ok("groups", "cancel", "reports"); !strings.Contains(got, "1 job: cancelled") {
		t.Errorf("groups cancel: %s", got)
	}
	b.ok("schedules", "pause", "--group", "reports")
	if got := b.objects("schedules", "list", "--group", "reports"); got[0]["paused"] != true || got[1]["paused"] != true {
		t.Errorf("schedules pause --group: %v", got)
	}
	b.ok("schedules", "resume", "--group", "reports")
	b.ok("schedules", "delete", "--group", "reports")
	if got := b.objects("schedules", "list"); len(got) != 1 || got[0]["name"] != "hourly" {
		t.Errorf("schedules delete --group: %v", got)
	}
	if got := b.ok("groups", "cancel", "reports"); !strings.Contains(got, "no job matches") {
		t.Errorf("a group whose jobs have ended: %s", got)
	}
	for _, args := range [][]string{{"groups", "cancel", "typo"}, {"groups", "trigger", "typo"}, {"schedules", "pause", "--group", "typo"}} {
		b.fails(1, []string{`"typo"`, "not found"}, args...)
	}
	for _, args := range [][]string{{"schedules", "pause", "a", "--group", "g"}, {"schedules", "pause", "--group", ""}, {"groups", "cancel"}} {
		b.fails(2, nil, args...)
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
