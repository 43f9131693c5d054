package main

import (
	"strings"
	"testing"
)

func TestNext(t *testing.T) {
	tests := []struct {
		args string // separated by |
		want string // separated by |
	}{
		{"--cron|0 9 * * 1-5|--count|2|--from|2027-03-01T00:00:00Z", "2027-03-01T09:00:00Z|2027-03-02T09:00:00Z"},
		{"0 9 * * 1-5|--count|2|--from|2027-03-01T00:00:00Z", "2027-03-01T09:00:00Z|2027-03-02T09:00:00Z"},
		{"--cron|0 9 * * *|--count|1|--from|2027-03-01T09:00:00Z", "2027-03-02T09:00:00Z"}, // strictly after
		{"--cron|0 9 * * *|--count|1|--from|2027-03-01T08:59:59.9999999Z", "2027-03-01T09:00:00Z"},
		{"--cron|0 9 * * *|--count|1", "2027-03-02T09:00:00Z"}, // from now
		{"--cron|0 9 * * *|--tz|Europe/Prague|--count|1|--from|2027-07-01T00:00:00Z", "2027-07-01T09:00:00+02:00"},
		{"--cron|CRON_TZ=Asia/Tokyo 0 9 * * *|--count|1|--from|2027-07-01T00:00:00Z", "2027-07-02T09:00:00+09:00"},
		{"--cron|30 2 * * *|--tz|America/New_York|--from|2027-03-13T00:00:00|--count|3", // a gap
			"2027-03-13T02:30:00-05:00|2027-03-14T03:00:00-04:00|2027-03-15T02:30:00-04:00"},
		{"--cron|*/20 * * * * *|--count|2|--from|2027-03-01T00:00:00Z", "2027-03-01T00:00:20Z|2027-03-01T00:00:40Z"},
		{"--cron|0 0 30 2 *", ""}, // never
		{"--every|90s|--from|2027-01-01T00:00:00Z|--count|2", "2027-01-01T00:01:30Z|2027-01-01T00:03:00Z"},
		{"--every|250ms|--from|2027-01-01T00:00:00Z|--count|1", "2027-01-01T00:00:00.25Z"},
		{"--every|1h|--tz|Asia/Kolkata|--from|2027-01-01T00:00:00|--count|1", "2027-01-01T01:00:00+05:30"},
		{"--at|2027-06-01T09:00:00|--tz|Europe/Prague", "2027-06-01T09:00:00+02:00"},
		{"--at|2027-03-01T12:00:00Z", ""}, // it is that instant now
		{"--at|2026-01-01T00:00:00Z", ""}, // in the past
		{"--every|876600h|--from|9990-01-01T00:00:00Z", ""},
		{"--cron|0 0 1 1 *|--from|0001-01-01T00:00:00Z|--tz|Europe/Prague|--count|1", "0001-12-31T23:02:16Z"}, // an offset with seconds
	}
	b := newBench(t)
	for _, test := range tests {
		r := b.run(append([]string{"next"}, strings.Split(test.args, "|")...)...)
		want := strings.ReplaceAll(test.want, "|", "\n")
		if want != "" {
			want += "\n"
		}
		equal(t, test.args, r.out, want)
		if warned := strings.Contains(r.err, "warning: no instant after "); r.code != exitDone || warned != (want == "") || !warned && r.err != "" {
			t.Errorf("%s: exit code %d, stderr %q", test.args, r.code, r.err)
		}
	}
	noStore(t, b)
}

// TestStepBeyondItsFieldIsWarnedOf checks that a rule with a probable mistake
// is accepted, with a warning that names the remedy.
func TestStepBeyondItsFieldIsWarnedOf(t *testing.T) {
	b := newBench(t)
	for _, args := range [][]string{
		{"next", "--cron", "*/90 * * * *", "--count", "1"},
		{"schedules", "put", "odd", "--cron", "*/90 * * * *", "--kind", "k"},
		{"schedules", "edit", "odd", "--grace", "5s"},
	} {
		r := b.run(args...)
		if r.code != exitDone || r.out == "" || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "warning: ") || !strings.Contains(r.err, "write every: 90m") {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, r.code, r.out, r.err)
		}
	}
	writeFile(t, "tab", "*/90 * * * * backup\n")
	if text := b.ok("check", "--crontab", "tab"); !strings.Contains(text, "  warnings\n    tab:1: time fields \"*/90 * * * *\"") || !strings.Contains(text, "write every: 90m") {
		t.Errorf("check prints %s", text)
	}
}

// TestNextOutput checks that next, like every listing, has machine-readable
// output.
func TestNextOutput(t *testing.T) {
	b := newBench(t)
	next := func(args ...string) string {
		return b.ok(append([]string{"next", "--from", "2027-03-13T00:00:00", "--tz", "America/New_York"}, args...)...)
	}
	twice := []string{"--cron", "30 2 * * *", "--count", "2"}
	equal(t, "table", next(append(twice, "--output", "table")...), "2027-03-13T02:30:00-05:00\n2027-03-14T03:00:00-04:00\n")
	equal(t, "ndjson", next(append(twice, "--output", "ndjson")...), `{"slot":"2027-03-13T02:30:00-05:00"}`+"\n"+`{"slot":"2027-03-14T03:00:00-04:00"}`+"\n")
	equal(t, "json", next(append(twice, "--output", "json")...), "[\n  "+`{"slot":"2027-03-13T02:30:00-05:00"}`+",\n  "+`{"slot":"2027-03-14T03:00:00-04:00"}`+"\n]\n")
	equal(t, "none as json", b.run("next", "--cron", "0 0 30 2 *", "--output", "json").out, "[]\n")
	equal(t, "none as ndjson", b.run("next", "--cron", "0 0 30 2 *", "--output", "ndjson").out, "")
	for output, want := range map[string]string{"table": "", "json": "[]\n", "ndjson": ""} {
		r := b.run("next", "--every", "1h", "--exclude", "* * * * *", "--output", output)
		if r.code != exitDone || r.out != want || !strings.Contains(r.err, "excluded") {
			t.Errorf("all excluded, as %s: %+v", output, r)
		}
	}
}

func TestNextDefaultsAndMost(t *testing.T) {
	b := newBench(t)
	if got := strings.Count(b.ok("next", "--every", "1s"), "\n"); got != 5 {
		t.Errorf("%d lines by default", got)
	}
	if got := strings.Count(b.ok("next", "--every", "1s", "--count", "100000"), "\n"); got != 100_000 {
		t.Errorf("%d lines at most", got)
	}
}
