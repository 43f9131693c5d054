package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestSchedulesPutAfter puts schedules that follow schedules, and looks at them as a user does.
func TestSchedulesPutAfter(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "export", "--every", "1h", "--", "true")
	r := b.run("schedules", "put", "report", "--after", "export", "--after", "a:b:failure:25h", "--", "true")
	if r.code != exitDone || !strings.Contains(r.err, "is waiting for schedule a:b, which does not exist") {
		t.Errorf("%+v", r)
	}
	show := b.ok("schedules", "show", "report")
	for _, part := range []string{"after export, a:b:failure:25h", "waiting for schedule a:b"} {
		if !strings.Contains(show, part) {
			t.Errorf("the schedule lacks %q:\n%s", part, show)
		}
	}
	if got, want := fmt.Sprint(b.objects("schedules", "show", "report")[0]["after"]), "[map[cancelled:failure delay:0s on:success schedule:export waiting:false] map[cancelled:failure delay:25h0m0s on:failure schedule:a:b waiting:true]]"; got != want {
		t.Errorf("after is %s, not %s", got, want)
	}
	before := b.ok("schedules", "list", "--output", "ndjson")
	for _, refused := range []struct {
		parts []string
		args  []string
	}{
		{[]string{"export → report → export", "cycle"}, []string{"put", "export", "--after", "report", "--", "true"}},
		{[]string{"own → own"}, []string{"put", "own", "--after", "own", "--", "true"}},
		{[]string{"given twice"}, []string{"put", "x", "--after", "export", "--after", "export:failure", "--", "true"}},
		{[]string{"later", "not a duration"}, []string{"put", "x", "--after", "export:success:later", "--", "true"}},
		{[]string{"-1s", "out of range"}, []string{"put", "x", "--after", "export:success:-1s", "--", "true"}},
		{[]string{"every", "leave"}, []string{"put", "x", "--after", "export", "--every", "1h", "--", "true"}},
		{[]string{"misfire"}, []string{"put", "x", "--after", "export", "--misfire", "all", "--", "true"}},
		{[]string{"no timetable"}, []string{"backfill", "report", "--from", "2026-01-01", "--to", "2026-01-02"}},
	} {
		b.fails(exitUsage, refused.parts, append([]string{"schedules"}, refused.args...)...)
	}
	if after := b.ok("schedules", "list", "--output", "ndjson"); after != before {
		t.Errorf("a put that was refused changed\n%sto\n%s", before, after)
	}
}
