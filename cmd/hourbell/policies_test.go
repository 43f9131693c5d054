package main

import (
	"strings"
	"testing"
)

func TestPoliciesOfASchedule(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "s", "--every", "1h", "--start", "2027-01-01T00:30:00Z", "--misfire", "all", "--misfire-cap", "3", "--window", "24h", "--grace", "2m",
		"--overlap", "queue", "--count", "5", "--jitter", "30s", "--on", "label=role=db", "--pause-after-failures", "4", "--kind", "k", "--args", `{"a": 1}`, "--group", "g")
	record := b.objects("schedules", "list")[0]
	for key, want := range map[string]any{
		"misfire": "all", "misfire_cap": 3.0, "window": "24h0m0s", "grace": "2m0s", "overlap": "queue", "count": 5.0, "jitter": "30s",
		"pause_after_failures": 4.0, "on": "label=role=db", "start": "2027-01-01T00:30:00Z", "stop": nil,
	} {
		if record[key] != want {
			t.Errorf("%s is %v, want %v", key, record[key], want)
		}
	}
	if shown := b.ok("schedules", "show", "s"); !strings.Contains(shown, "on            label=role=db\n") || !strings.Contains(shown, "misfire all, misfire_cap 3, grace 2m, window 24h, count 5, jitter 30s, pause_after_failures 4\n") {
		t.Errorf("show prints %s", shown)
	}
	b.fails(exitUsage, []string{"misfire", "unknown", "skip, once or all"}, "schedules", "put", "t", "--every", "1h", "--misfire", "some", "--kind", "k")
	b.fails(exitUsage, []string{"on", "host=NAME"}, "schedules", "put", "t", "--every", "1h", "--on", "web1", "--kind", "k")
	b.fails(exitUsage, []string{"misfire_cap", "leave it out"}, "schedules", "put", "t", "--every", "1h", "--misfire-cap", "3", "--kind", "k")
	b.fails(exitUsage, []string{"window", "empty"}, "schedules", "put", "t", "--every", "1h", "--window", "", "--kind", "k")
	r := b.run("schedules", "put", "old", "--every", "1h", "--stop", "2020-01-01T00:00:00Z", "--kind", "k")
	if r.code != exitDone || !strings.Contains(r.out, "ended") || !strings.Contains(r.err, "warning") || !strings.Contains(r.err, "2020-01-01") {
		t.Errorf("a stop in the past: %+v", r)
	}
}

func TestSchedulesEdit(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "s", "--cron", "0 9 * * *", "--tz", "Asia/Tokyo", "--misfire", "once", "--window", "24h", "--kind", "k", "--args", `{"a": 1}`)
	before := b.objects("schedules", "list")[0]
	b.ok("schedules", "edit", "s", "--tz", "Europe/Prague", "--window", "")
	after := b.objects("schedules", "list")[0]
	if after["tz"] != "Europe/Prague" || after["window"] != nil || after["revision"] != 2.0 {
		t.Errorf("edited: %v", after)
	}
	for _, key := range []string{"cron", "misfire", "kind", "anchor", "overlap", "queue"} {
		if before[key] != after[key] {
			t.Errorf("%s was %v and is %v", key, before[key], after[key])
		}
	}
	b.ok("schedules", "edit", "s", "--every", "2h", "--tz", "")
	if after = b.objects("schedules", "list")[0]; after["cron"] != nil || after["every"] != "2h" {
		t.Errorf("another sort of rule: %v", after)
	}
	b.fails(exitFailed, []string{"changed"}, "schedules", "edit", "s", "--misfire", "skip", "--window", "", "--if-revision", "1")
	b.fails(exitFailed, []string{"not found"}, "schedules", "edit", "other", "--misfire", "skip")
}

func TestSchedulesPauseUntil(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "s", "--every", "1h", "--kind", "k")
	equal(t, "pause", b.ok("schedules", "pause", "s", "--until", "2100-01-01T00:00:00Z"), "schedule \"s\": paused until 2100-01-01T00:00:00Z\n")
	if record := b.objects("schedules", "list")[0]; record["state"] != "paused" || record["paused_until"] != "2100-01-01T00:00:00Z" {
		t.Errorf("paused: %v", record)
	}
	b.fails(exitUsage, []string{"until", "not in the future"}, "schedules", "pause", "s", "--until", "2020-01-01T00:00:00Z")
	b.ok("schedules", "resume", "s")
}

func TestExplain(t *testing.T) {
	b := newBench(t)
	gap := b.ok("explain", "--cron", "30 2 * * *", "--tz", "America/New_York", "--from", "2027-03-13T00:00:00", "--to", "2027-03-16T00:00:00", "--gap", "skip")
	for _, want := range []string{
		"2027-03-13T02:30:00-05:00  fired    1 ", "2027-03-14T03:00:00-04:00  clock    -", "2027-03-14T03:00:00-04:00  skipped  -",
		"gap: the clock goes from 2027-03-14 02:00 to 03:00: 02:30 is skipped", "2027-03-15T02:30:00-04:00  fired    2 ",
	} {
		if !strings.Contains(gap, want) {
			t.Errorf("a gap: %q is missing in\n%s", want, gap)
		}
	}
	outage := []string{"--every", "1h", "--from", "2027-03-01T00:00:00Z", "--to", "2027-03-01T05:00:00Z", "--down", "2027-03-01T01:30:00Z..2027-03-01T04:30:00Z", "--output", "ndjson"}
	var outcomes []string
	for _, row := range b.objects(append([]string{"explain", "--misfire", "once"}, outage...)...) {
		outcomes = append(outcomes, row["outcome"].(string))
	}
	if got := strings.Join(outcomes, " "); got != "fired fired missed missed fired" {
		t.Errorf("an outage: %s", got)
	}
	b.ok("schedules", "put", "s", "--every", "1h", "--start", "2027-03-01T00:00:00Z", "--kind", "k", "--overlap", "queue")
	rows := b.objects("explain", "s", "--from", "2027-03-01T00:00:00Z", "--to", "2027-03-01T03:00:00Z", "--run-time", "90m", "--output", "ndjson")
	if len(rows) != 3 || rows[1]["outcome"] != "fired" || rows[1]["reason"] != "its job starts 30m0s later" {
		t.Errorf("a schedule of the store: %v", rows)
	}
	if r := b.run("explain", "--every", "1h", "--output", "ndjson"); r.code != exitDone || strings.Count(r.out, "\n") != explainedSlots || !strings.Contains(r.out, `"slot":"2027-03-01T`) {
		t.Errorf("without --from and --to: %+v", r)
	}
	if r := b.run("explain", "s", "--limit", "3", "--output", "ndjson"); r.code != exitDone || strings.Count(r.out, "\n") != 3 {
		t.Errorf("a stored schedule without --from and --to: %+v", r)
	}
	b.fails(exitUsage, []string{"down", "FROM..TO"}, "explain", "--every", "1h", "--from", "2027-03-01T00:00:00Z", "--to", "2027-03-02T00:00:00Z", "--down", "noon")
}

func TestBackfill(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "s", "--cron", "0 0 * * *", "--kind", "k", "--args", `{"a": 1}`)
	day := []string{"schedules", "backfill", "s", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-04T00:00:00Z"}
	if rows := b.objects(append(day, "--dry-run", "--output", "ndjson")...); len(rows) != 3 || rows[0]["slot"] != "2026-01-01T00:00:00Z" || rows[0]["job_id"] != nil {
		t.Errorf("a dry run: %v", rows)
	}
	if got := len(b.objects("jobs", "list")); got != 0 {
		t.Errorf("a dry run made %d jobs", got)
	}
	equal(t, "backfill", b.ok(day...), "SLOT                  JOB\n2026-01-01T00:00:00Z  1\n2026-01-02T00:00:00Z  2\n2026-01-03T00:00:00Z  3\n")
	var states []string
	for _, job := range b.objects("jobs", "list") {
		states = append(states, job["state"].(string)+" "+job["origin"].(string))
	}
	if got := strings.Join(states, ", "); got != "waiting backfill, waiting backfill, ready backfill" {
		t.Errorf("backfilled jobs: %s", got)
	}
	b.ok(append(day, "--dependents")...)
	const entry = "slots from 2026-01-01T00:00:00Z to 2026-01-03T00:00:00Z"
	if rows := b.objects("audit", "--action", "schedules backfill", "--output", "ndjson"); len(rows) != 2 || rows[0]["detail"] != entry+", with dependents" || rows[1]["detail"] != entry {
		t.Errorf("the audit of a backfill with dependents, and of one without: %v", rows)
	}
	if last := b.objects("jobs", "list")[0]; last["id"] != 6.0 || last["origin"] != "backfill" {
		t.Errorf("a job of a backfill with dependents: %v", last)
	}
	b.fails(exitUsage, []string{"to", "in the future"}, "schedules", "backfill", "s", "--from", "2026-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z")
	b.fails(exitUsage, []string{"from", "missing"}, "schedules", "backfill", "s", "--to", "2026-01-01T00:00:00Z")
}
