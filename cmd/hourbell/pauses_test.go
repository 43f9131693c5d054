package main

import (
	"strings"
	"testing"
)

// TestQueuesKindsAndKeysPause checks the pauses of queues, kinds and keys.
func TestQueuesKindsAndKeysPause(t *testing.T) {
	for noun, name := range map[string]string{"queue": "default", "kind": "command", "key": "c"} {
		t.Run(noun, func(t *testing.T) {
			b := newBench(t)
			command := noun + "s"
			b.ok("schedules", "put", "nightly", "--cron", "0 3 * * *", "--key", "c", "--", "true")
			if got := b.ok(command, "pause", name, "--reason", "repair"); got != noun+` "`+name+`": paused`+"\n" {
				t.Errorf("pause: %q", got)
			}
			listed := b.objects(command, "list")[0]
			if listed["name"] != name || listed["paused_at"] == nil || listed["pause_reason"] != "repair" || !strings.Contains(listed["paused_by"].(string), "@") || listed["paused_until"] != nil {
				t.Errorf("the list: %v", listed)
			}
			r := b.run("schedules", "trigger", "nightly")
			id := strings.TrimSpace(r.out)
			if r.code != 0 || !strings.Contains(r.err, `job `+id+` waits: its `+noun+` "`+name+`" is paused; `+"`"+command+" resume` lets it run") {
				t.Errorf("a trigger: %+v", r)
			}
			if got := b.objects("schedules", "show", "nightly")[0]; got["state"] != "active" {
				t.Errorf("the schedule goes on: %v", got)
			}
			job := b.objects("jobs", "show", id)[0]
			if waits, _ := job["waits"].(string); job["state"] != "ready" || !strings.HasPrefix(waits, noun+" "+name+" is paused since ") || !strings.HasSuffix(waits, ": repair") {
				t.Errorf("the job: %v", job)
			}
			if got := b.ok(command, "pause", "later", "--until", "2999-03-01T09:00:00Z", "--cancel"); !strings.Contains(got, "paused until 2999-03-01") || !strings.Contains(got, "its running jobs are cancelled") {
				t.Errorf("a pause in advance: %q", got)
			}
			b.ok(command, "resume", name)
			b.work()
			if job := b.objects("jobs", "show", id)[0]; job["state"] != "completed" {
				t.Errorf("the job after the pause: %v", job)
			}
			if got := b.ok(command, "resume", name); !strings.Contains(got, "was not paused") {
				t.Errorf("a second resume: %q", got)
			}
			if got := b.objects("audit", "--subject", noun+":"+name); len(got) != 2 || got[0]["action"] != command+" resume" || got[1]["detail"] != "repair" {
				t.Errorf("the audit: %v", got)
			}
			b.fails(1, []string{noun + ` "typo" is not paused`, "not found; `hourbell " + command + " list` shows "}, command, "resume", "typo")
			b.fails(2, []string{"until"}, command, "pause", "g", "--until", "soon")
			b.fails(2, []string{"NAME"}, command, "pause")
		})
	}
}
