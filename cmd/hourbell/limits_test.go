package main

import (
	"os"
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
	b.ok("enqueue", "report", "--key", "0", "--queue", "0")
	if got := b.objects("jobs", "list", "--key", "0", "--queue", "0"); len(got) != 1 || got[0]["key"] != "0" {
		t.Errorf("0 is a name, too: %v", got)
	}
}

// TestLimits puts, lists, shows and deletes limits, and brings them with a file.
func TestLimits(t *testing.T) {
	b := newBench(t)
	if got := b.ok("limits", "put", "exports", "--kind", "export", "--by-key", "--concurrency", "2", "--weight", "a=b=3", "--strict"); !strings.Contains(got, `limit "exports": revision `) {
		t.Errorf("limits put: %s", got)
	}
	b.ok("limits", "put", "api", "--queue", "api", "--rate", "100/m", "--burst", "20")
	got := b.objects("limits", "list")
	if len(got) != 2 || got[0]["name"] != "api" || got[0]["rate"] != "100/m" || got[0]["burst"] != 20.0 || got[0]["concurrency"] != nil || got[0]["keys"] != nil {
		t.Errorf("limits list: %v", got)
	}
	for _, field := range []string{"name", "owner", "revision", "queue", "kind", "by_key", "concurrency", "rate", "burst", "weights", "strict", "in_use", "waiting", "keys", "fullest", "created_at", "updated_at"} {
		if _, found := got[1][field]; !found {
			t.Errorf("limits list has no field %s: %v", field, got[1])
		}
	}
	if got := b.ok("limits", "list"); !strings.Contains(got, "kind export, each key") || !strings.Contains(got, "2 strict") || !strings.Contains(got, "100/m burst 20") {
		t.Errorf("limits list: %s", got)
	}
	if got := b.ok("limits", "show", "exports"); !strings.Contains(got, "a=b=3") {
		t.Errorf("limits show: %s", got)
	}
	b.fails(2, []string{"queue", "concurrency"}, "limits", "put", "x")
	b.fails(2, []string{"rate"}, "limits", "put", "x", "--queue", "q", "--rate", "often")
	b.fails(2, []string{"weight"}, "limits", "put", "x", "--by-key", "--concurrency", "1", "--weight", "gold")
	b.fails(2, []string{"weight", "a=b", "given twice"}, "limits", "put", "x", "--by-key", "--concurrency", "1", "--weight", "a=b=2", "--weight", "a=b=5")
	b.fails(2, []string{"concurrency"}, "limits", "put", "x", "--queue", "q", "--concurrency", "0")
	b.fails(1, []string{"changed", "`hourbell limits show api` shows its revision"}, "limits", "put", "api", "--queue", "api", "--rate", "1/s", "--if-revision", "1000000")
	b.fails(1, []string{`"x" does not exist`, "leave the revision out"}, "limits", "put", "x", "--queue", "api", "--rate", "1/s", "--if-revision", "1")
	b.fails(1, []string{"not found", "`hourbell limits list`"}, "limits", "delete", "api", "missing")
	b.ok("limits", "delete", "api")
	b.fails(1, []string{"not found", "`hourbell limits list`"}, "limits", "show", "api")
	b.fails(1, []string{`did you mean "exports"?`}, "limits", "show", "export")

	const file = "limits.yaml"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("owner: o\nlimits:\n  mail: {queue: mail, concurrency: 3}\nschedules: []\n")
	if got := b.ok("apply", file); !strings.Contains(got, "limits: 1 changed, 0 unchanged, 0 deleted") {
		t.Errorf("apply: %s", got)
	}
	b.fails(1, []string{`owner "o"`, "`hourbell limits show mail`", "--owner"}, "limits", "put", "mail", "--queue", "mail", "--concurrency", "4")
	b.fails(1, []string{`owner "o"`, "another name"}, "limits", "put", "mail", "--queue", "mail", "--concurrency", "4", "--owner", "p")
	write("owner: o\nlimits:\n  exports: {queue: mail, concurrency: 3}\nschedules: []\n")
	for _, args := range [][]string{{"apply", file}, {"serve", "--file", file}} {
		got := b.run(args...)
		for _, want := range []string{`"exports" exists already and belongs to no owner`, "`hourbell limits delete exports`", "another name"} {
			if got.code != exitFailed || !strings.Contains(got.err, want) {
				t.Errorf("%v of a limit that was put by hand: %+v, want %s", args, got, want)
			}
		}
	}
	write("owner: o\nschedules: []\n")
	if got := b.ok("apply", "--prune", file); !strings.Contains(got, "limits: 0 changed, 0 unchanged, 1 deleted") {
		t.Errorf("apply --prune: %s", got)
	}
	if got := b.objects("limits", "list"); len(got) != 1 || got[0]["name"] != "exports" {
		t.Errorf("only the limits of the owner may end: %v", got)
	}
}
