package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestStoredCommandsThatNoNodeAllows checks that a schedule whose command no living node may run is
// reported where people look: when it is put, where it is shown, among its slots and in the log.
func TestStoredCommandsThatNoNodeAllows(t *testing.T) {
	startsProcesses(t)
	const said = "no living node allows stored commands: start one with --commands any, or declare it in a file"
	b := newBench(t)
	node := b.serve("--commands", "declared")
	node.awaits("node started", 1)

	r := b.run("schedules", "put", "x", "--every", "1s", "--grace", "1s", "--", "echo", "hi")
	if r.code != exitDone || r.err != "hourbell: warning: schedule \"x\": "+said+"\n" {
		t.Errorf("put: %+v", r)
	}
	if text := b.ok("schedules", "show", "x"); !strings.Contains(text, said) {
		t.Errorf("show prints %s", text)
	}
	if waits := b.objects("schedules", "list")[0]["waits"]; waits != said {
		t.Errorf("list has %v", waits)
	}
	if r := b.run("slots", "--schedule", "x"); r.code != exitDone || r.err != "hourbell: schedule \"x\": "+said+"\n" {
		t.Errorf("slots: %+v", r)
	}
	node.awaits("schedule is fired by no living node", 1)
	node.awaits("detail=\""+said, 1)
	eventually(t, "a slot is missed for this reason", func() bool {
		return strings.Contains(b.run("slots", "--schedule", "x", "--output", "ndjson").out, "misfire: no node fired it within 1s ("+said+")")
	})
	if n := strings.Count(node.logged(), "fired by no living node"); n != 1 {
		t.Errorf("the log has the message %d times", n)
	}

	// A node with the command in its own file ends it.
	writeFile(t, "own.yaml", "schedules:\n  - {name: mine, every: 1h, command: [echo, hi]}\n")
	other := b.serve("--commands", "declared", "--file", "own.yaml")
	eventually(t, "a slot fires, and nothing is reported any more", func() bool {
		r := b.run("slots", "--schedule", "x", "--output", "ndjson")
		return strings.Contains(r.out, `"outcome":"fired"`) && r.err == ""
	})
	for _, p := range []*process{node, other} {
		p.signal(syscall.SIGTERM)
		p.ends()
	}
}

// TestNoNodeRunsStoredCommands checks that stored commands on a shared database are remarked on while no node is alive.
func TestNoNodeRunsStoredCommands(t *testing.T) {
	const said = "runs no stored command by default: start a node with --commands any"
	url := postgresURL(t)
	b := newBench(t)
	for _, args := range [][]string{{"enqueue", "command", "--", "true"}, {"schedules", "put", "x", "--every", "1h", "--", "true"}} {
		b.ok(args...) // any user of a SQLite file may start commands anyway
	}
	schema := newSchemaName()
	b.env[storeVariable] = url
	t.Cleanup(func() { dropSchema(t, url, schema) })
	for _, test := range []struct {
		args []string
		want bool
	}{
		{[]string{"enqueue", "command", "--schema", schema, "--", "true"}, true},
		{[]string{"schedules", "put", "x", "--schema", schema, "--every", "1h", "--", "true"}, true},
		{[]string{"enqueue", "mail", "--schema", schema}, false},
	} {
		if r := b.run(test.args...); r.code != exitDone || strings.Contains(r.err, said) != test.want || strings.Count(r.err, "\n") > 1 {
			t.Errorf("%q: %+v", test.args, r)
		}
	}
}

// TestRulesWithoutAnInstant checks the warnings about rules that never ring from now on.
func TestRulesWithoutAnInstant(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		flags []string
		put   string
	}{
		{[]string{"--cron", "0 0 31 2 *"}, `warning: schedule "s" has ended: no instant from now on matches its rule; check that its months have its day`},
		{[]string{"--at", "2020-01-01T00:00:00Z"}, `warning: schedule "s" has ended: its instant, 2020-01-01T00:00:00Z, is in the past`},
	} {
		for _, verb := range []string{"put", "edit"} {
			args := append([]string{"schedules", verb, "s"}, test.flags...)
			if verb == "put" {
				args = append(args, "--kind", "k")
			}
			if r := b.run(args...); r.code != exitDone || r.err != "hourbell: "+test.put+"\n" || !strings.Contains(r.out, "ended") {
				t.Errorf("%q: %+v", args, r)
			}
		}
		r := b.run(append([]string{"next"}, test.flags...)...)
		if r.code != exitDone || r.out != "" || r.err != "hourbell: warning: no instant after 2027-03-01T12:00:00Z matches the rule\n" {
			t.Errorf("next %q: %+v", test.flags, r)
		}
	}
	b.ok("schedules", "put", "s", "--cron", "0 0 29 2 *", "--kind", "k")
	b.ok("next", "--at", "2027-03-01T12:00:01Z")
}

// TestCountIsOneWord checks that the number of slots has the same name as a flag and as a key.
func TestCountIsOneWord(t *testing.T) {
	b := newBench(t)
	writeFile(t, "s.yaml", "schedules:\n  - {name: file, every: 1h, count: 3, shell: date}\n")
	b.ok("apply", "s.yaml")
	b.ok("schedules", "put", "flag", "--every", "1h", "--count", "3", "--shell", "date")
	for _, s := range b.objects("schedules", "list") {
		if s["count"] != 3.0 {
			t.Errorf("%v has the count %v", s["name"], s["count"])
		}
	}
	if shown := b.ok("schedules", "show", "flag"); !strings.Contains(shown, "count 3") {
		t.Errorf("show prints %s", shown)
	}
}

// TestExplainsExampleOfAnOutage runs the example of help with --down: no slot of the time in which
// nothing runs may be blamed on a running job.
func TestExplainsExampleOfAnOutage(t *testing.T) {
	b := newBench(t)
	c, _, err := newProgram().rootCommand().Find([]string{"explain"})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(c.Example) {
		if !strings.Contains(line, "--down") {
			continue
		}
		args := append(strings.Fields(line)[1:], "--output", "ndjson")
		var got []string
		for _, slot := range b.objects(args...) {
			got = append(got, strings.TrimPrefix(slot["slot"].(string), "2027-03-01T")+" "+slot["outcome"].(string))
			if reason, _ := slot["reason"].(string); strings.Contains(reason, "running") {
				t.Errorf("slot %v: %s", slot["slot"], reason)
			}
		}
		equal(t, "the example", strings.Join(got, "\n"), strings.Join([]string{
			"00:00:00Z fired", "01:00:00Z fired", "02:00:00Z fired", "03:00:00Z missed", "04:00:00Z missed", "05:00:00Z missed",
			"06:00:00Z fired", "07:00:00Z fired", "08:00:00Z fired", "09:00:00Z fired", "10:00:00Z fired", "11:00:00Z fired",
		}, "\n"))
	}
	// An outage that begins and ends at slots: the job that fired ahead of it has run when the next slot comes.
	for _, slot := range b.objects("explain", "--every", "1h", "--from", "2027-03-01T00:00:00Z", "--to", "2027-03-01T09:00:00Z", "--down", "2027-03-01T03:00:00Z..2027-03-01T06:00:00Z", "--misfire", "once") {
		if slot["outcome"] == "skipped" {
			t.Errorf("slot %v: %v", slot["slot"], slot["reason"])
		}
	}
}

// TestNotifyURL checks that a node listens for wake-ups at --notify-url or HOURBELL_NOTIFY_URL, and
// what it logs if it cannot.
func TestNotifyURL(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	b.fails(exitUsage, []string{"notify-url", "SQLite"}, "serve", "--notify-url", "postgres://h/db")
	b.fails(exitUsage, []string{"notify-url", "is empty"}, "serve", "--notify-url", "")
	for _, text := range []string{"hunter2", "sqlite:a.db", "mysql://u:hunter2@h/db", "postgres://u:hunter2@h/db?schema=x"} {
		r := b.fails(exitUsage, []string{"notify-url", "postgres://user@host/database"}, "serve", "--store", "postgres://h/db", "--notify-url", text)
		if strings.Contains(r.err, "hunter2") {
			t.Errorf("the message has the password: %s", r.err)
		}
	}
	url, schema := postgresURL(t), newSchemaName()
	b.env[storeVariable] = url
	t.Cleanup(func() { dropSchema(t, url, schema) })
	const nowhere = "postgres://nobody:hunter2@127.0.0.1:1/none"
	byFlag := b.serve("--schema", schema, "--notify-url", nowhere)
	byFlag.awaits("wake-ups cannot be pushed; polling", 1)
	byFlag.awaits("listen for wake-ups: cannot reach the database", 1)
	byFlag.signal(syscall.SIGTERM)
	byFlag.ends()
	b.env[notifyVariable] = nowhere
	byVariable := b.serve("--schema", schema)
	byVariable.awaits("listen for wake-ups: cannot reach the database", 1)
	byVariable.signal(syscall.SIGTERM)
	byVariable.ends()
	if strings.Contains(byFlag.logged()+byVariable.logged(), "hunter2") {
		t.Error("the log has the password")
	}
}
