package main

import (
	"os"
	"strings"
	"testing"
)

// TestBadInput checks promise P8 for the program: one line that names the
// field, no output on stdout, exit code 2, and no store created.
func TestBadInput(t *testing.T) {
	b := newBench(t)
	huge := strings.Repeat("x", 2<<20)
	writeFile(t, "huge.json", `"`+huge+`"`)
	writeFile(t, "broken.json", `{"a":`)
	writeFile(t, "empty.keys", "\n")
	writeFile(t, "broken.yaml", "schedules:\n  - {name: a, every: 1s, comand: [ls], shell: ls}\n")
	writeFile(t, "broken.tab", "61 * * * * date\n")
	tests := []struct {
		names string // what the message must contain
		args  []string
	}{
		// The command line itself.
		{"bogus", []string{"bogus"}},
		{"bogus", []string{"bogus", "--flag"}},
		{"command", []string{"jobs"}},
		{"bogus", []string{"jobs", "bogus"}},
		{"bogus", []string{"schedules", "bogus", "x"}},
		{"bogus", []string{"migrate", "bogus"}},
		{"bogus", []string{"completion", "bogus"}},
		{"bogus", []string{"help", "bogus"}},
		{"bogus", []string{"help", "jobs", "bogus"}},
		{"bogus", []string{"jobs", "list", "--bogus"}},
		{"z", []string{"jobs", "list", "-z"}},
		{"extra", []string{"queues", "extra"}},
		{"extra", []string{"version", "extra"}},
		{"command", []string{""}},
		{"command", []string{"a\x00b"}},
		{"command", []string{"\xff\xfe"}},
		{"command", []string{huge}},

		// calendars
		{"command", []string{"calendars"}},
		{"NAME", []string{"calendars", "put"}},
		{"calendar", []string{"calendars", "put", "c"}},
		{"calendar", []string{"calendars", "put", "c", "--dates", ""}},
		{"dates", []string{"calendars", "put", "c", "--dates", "2026-02-30"}},
		{"dates", []string{"calendars", "put", "c", "--ranges", "2026-02-02..2026-02-01"}},
		{"weekdays", []string{"calendars", "put", "c", "--weekdays", "someday"}},
		{"cron", []string{"calendars", "put", "c", "--rule", "* * * *"}},
		{"cron", []string{"calendars", "put", "c", "--rule", ""}},
		{"tz", []string{"calendars", "put", "c", "--weekdays", "sat", "--tz", "Mars"}},
		{"name", []string{"calendars", "put", "sat", "--weekdays", "sat"}},
		{"NAME", []string{"calendars", "put", "", "--weekdays", "sat"}},
		{"if-revision", []string{"calendars", "put", "c", "--weekdays", "sat", "--if-revision", "0"}},
		{"dates", []string{"calendars", "put", "c", "--dates", "12-25", "--file", "broken.yaml"}},
		{"calendars", []string{"calendars", "put", "--file", "broken.yaml"}},
		{"file", []string{"calendars", "put", "--file", "not-there.yaml"}},
		{"NAME", []string{"calendars", "delete"}},
		{"limit", []string{"calendars", "list", "--limit", "-1"}},

		// next
		{"exclude", []string{"next", "--cron", "@daily", "--exclude", ""}},
		{"exclude", []string{"next", "--cron", "@daily", "--exclude", "2026-13-13"}},
		{"exclude", []string{"next", "--cron", "@daily", "--exclude", "* * * *"}},
		{"exclude", []string{"schedules", "put", "s", "--cron", "@daily", "--exclude", "", "--kind", "k"}},
		{"exclude", []string{"schedules", "edit", "s", "--exclude", "sat,"}},
		{"cron", []string{"next"}},
		{"cron", []string{"next", "--cron", ""}},
		{"cron", []string{"next", ""}},
		{"cron", []string{"next", "61 * * * *"}},
		{"argument", []string{"next", "*/5", "*"}},
		{"argument", []string{"next", "* * * * *", "--every", "5m"}},
		{"cron", []string{"next", "--cron", "61 * * * *"}},
		{"cron", []string{"next", "--on-calendar", ""}},
		{"cron", []string{"next", "--on-calendar", "Fri..Mon"}},
		{"cron", []string{"next", "--cron", "* * * *"}},
		{"cron", []string{"next", "--cron", "@sometimes"}},
		{"cron", []string{"next", "--cron", huge}},
		{"cron", []string{"next", "--cron", "\x00 * * * *"}},
		{"cron", []string{"next", "--cron", "\xff * * * *"}},
		{"cron", []string{"next", "--cron", "'; DROP TABLE hourbell_jobs; --"}},
		{"every", []string{"next", "--every", ""}},
		{"every", []string{"next", "--every", "0s"}},
		{"every", []string{"next", "--every", "-5s"}},
		{"every", []string{"next", "--every", "1 fortnight"}},
		{"every", []string{"next", "--every", "99999999999999999999h"}},
		{"every", []string{"next", "--every", "1s", "--cron", "* * * * *"}},
		{"at", []string{"next", "--at", "tomorrow"}},
		{"at", []string{"next", "--at", "2027-02-30T00:00:00Z"}},
		{"at", []string{"next", "--at", ""}},
		{"tz", []string{"next", "--cron", "* * * * *", "--tz", "Nowhere/Land"}},
		{"tz", []string{"next", "--cron", "* * * * *", "--tz", "../../etc/passwd"}},
		{"tz", []string{"next", "--cron", "* * * * *", "--tz", "a\x00b"}},
		{"tz", []string{"next", "--cron", "* * * * *", "--tz", ""}},
		{"tz", []string{"next", "--cron", "* * * * *", "--tz", huge}},
		{"from", []string{"next", "--every", "1s", "--from", "yesterday"}},
		{"from", []string{"next", "--every", "1s", "--from", ""}},
		{"from", []string{"next", "--every", "1s", "--from", "12027-01-01T00:00:00Z"}},
		{"from", []string{"next", "--every", "1s", "--from", huge}},
		{"count", []string{"next", "--every", "1s", "--count", "0"}},
		{"count", []string{"next", "--every", "1s", "--count", "-1"}},
		{"count", []string{"next", "--every", "1s", "--count", "100001"}},
		{"count", []string{"next", "--every", "1s", "--count", "many"}},
		{"count", []string{"next", "--every", "1s", "--count", "99999999999999999999"}},
		{"count", []string{"next", "--every", "1s", "--count"}},
		{"extra", []string{"next", "--every", "1s", "extra"}},

		// enqueue
		{"KIND", []string{"enqueue"}},
		{"KIND", []string{"enqueue", "--", "echo", "hi"}},
		{"kind", []string{"enqueue", ""}},
		{"kind", []string{"enqueue", "a\x00b"}},
		{"kind", []string{"enqueue", "\xff"}},
		{"kind", []string{"enqueue", huge}},
		{"kind", []string{"enqueue", " greet"}},
		{"argument", []string{"enqueue", "greet", "extra"}},
		{"argv", []string{"enqueue", "greet", "--", "echo"}},
		{"shell", []string{"enqueue", "greet", "--shell", "echo"}},
		{"args", []string{"enqueue", "greet", "--args", ""}},
		{"args", []string{"enqueue", "greet", "--args", "{"}},
		{"args", []string{"enqueue", "greet", "--args", `{"a":1} {"b":2}`}},
		{"args", []string{"enqueue", "greet", "--args", "\"\xff\""}},
		{"args", []string{"enqueue", "greet", "--args", "\x00"}},
		{"args", []string{"enqueue", "greet", "--args", `"` + huge + `"`}},
		{"args", []string{"enqueue", "greet", "--args", "@huge.json"}},
		{"args", []string{"enqueue", "greet", "--args", "@broken.json"}},
		{"args", []string{"enqueue", "greet", "--args", "@missing.json"}},
		{"args", []string{"enqueue", "greet", "--args", "@"}},
		{"args", []string{"enqueue", "greet", "--args", "@."}},
		{"args", []string{"enqueue", "greet", "--args", "-"}}, // stdin is empty
		{"argv", []string{"enqueue", "command"}},
		{"argv", []string{"enqueue", "command", "--"}},
		{"argv[0]", []string{"enqueue", "command", "--", ""}},
		{"argv[1]", []string{"enqueue", "command", "--", "echo", "a\x00b"}},
		{"shell", []string{"enqueue", "command", "--shell", "  "}},
		{"shell", []string{"enqueue", "command", "--shell", ""}},
		{"shell", []string{"enqueue", "command", "--shell", "ls", "--", "ls"}},
		{"args", []string{"enqueue", "command", "--args", `{"argv":["ls"]}`, "--", "ls"}},
		{"args", []string{"enqueue", "command", "--args", `{"argvs":["ls"]}`}},
		{"args", []string{"enqueue", "command", "--args", `[]`}},
		{"env[0]", []string{"enqueue", "command", "--env", "NAME", "--", "ls"}},
		{"env[0]", []string{"enqueue", "command", "--env", "=x", "--", "ls"}},
		{"env", []string{"enqueue", "command", "--env", "A=1", "--env", "A=2", "--", "ls"}},
		{"env", []string{"enqueue", "command", "--env", "A=\x00", "--", "ls"}},
		{"dir", []string{"enqueue", "command", "--dir", "\x00", "--", "ls"}},
		{"queue", []string{"enqueue", "greet", "--queue", ""}},
		{"queue", []string{"enqueue", "greet", "--queue", "a\nb"}},
		{"queue", []string{"enqueue", "greet", "--queue", strings.Repeat("q", 201)}},
		{"priority", []string{"enqueue", "greet", "--priority", "0"}},
		{"priority", []string{"enqueue", "greet", "--priority", "10"}},
		{"priority", []string{"enqueue", "greet", "--priority", "high"}},
		{"max_attempts", []string{"enqueue", "greet", "--max-attempts", "0"}},
		{"max_attempts", []string{"enqueue", "greet", "--max-attempts", "1001"}},
		{"on_loss", []string{"enqueue", "greet", "--on-loss", "explode"}},
		{"timeout", []string{"enqueue", "greet", "--timeout", "-1s"}},
		{"timeout", []string{"enqueue", "greet", "--timeout", "soon"}},
		{"in", []string{"enqueue", "greet", "--in", "-1s"}},
		{"in", []string{"enqueue", "greet", "--in", "2540400h10m10s1"}},
		{"in", []string{"enqueue", "greet", "--in", "1h", "--at", "2027-03-01T09:00:00Z"}},
		{"at", []string{"enqueue", "greet", "--at", "noon"}},
		{"at", []string{"enqueue", "greet", "--at", ""}},
		{"at", []string{"enqueue", "greet", "--at", "0001-01-01T00:00:00Z"}},
		{"output", []string{"enqueue", "greet", "--output", "xml"}},

		// jobs
		{"ID", []string{"jobs", "show"}},
		{"ID", []string{"jobs", "show", "0"}},
		{`"-1"`, []string{"jobs", "show", "-1"}}, // parsed as a flag
		{"ID", []string{"jobs", "show", "--", "-1"}},
		{"ID", []string{"jobs", "show", "1.5"}},
		{"ID", []string{"jobs", "show", "9223372036854775808"}},
		{"ID", []string{"jobs", "show", "1 OR 1=1"}},
		{"argument", []string{"jobs", "show", "1", "2"}},
		{"ID", []string{"jobs", "cancel"}},
		{"ID", []string{"jobs", "cancel", "1", "two"}},
		{"ID", []string{"jobs", "cancel", "1", "--all"}},
		{"--all", []string{"jobs", "retry"}},
		{"--all", []string{"jobs", "delete", "--dry-run"}},
		{"--all", []string{"jobs", "move", "--to", "q"}},
		{"to", []string{"jobs", "move", "--all"}},
		{"to", []string{"jobs", "move", "1", "--to", ""}},
		{"--all", []string{"jobs", "reprioritise", "--priority", "1"}},
		{"priority", []string{"jobs", "reprioritise", "1"}},
		{"priority", []string{"jobs", "reprioritise", "1", "--priority", "10"}},
		{"state", []string{"jobs", "retry", "--state", "happy"}},
		{"since", []string{"jobs", "count", "--since", "yesterday"}},
		{"since", []string{"jobs", "count", "--since", ""}},
		{"until", []string{"jobs", "count", "--since", "1h", "--until", "2h"}},
		{"finished-until", []string{"jobs", "retry", "--finished-until", "-2h"}},
		{"error", []string{"jobs", "list", "--error", ""}},
		{"unique", []string{"jobs", "list", "--unique", "\x00"}},
		{"argument", []string{"jobs", "count", "1"}},
		{"schedule", []string{"jobs", "cancel", "--schedule", ""}},
		{"ID", []string{"jobs", "retry", "x"}},
		{"ID", []string{"jobs", "delete", "x"}},
		{"state", []string{"jobs", "list", "--state", "happy"}},
		{"state", []string{"jobs", "list", "--state", ""}},
		{"state", []string{"jobs", "list", "--state", "scheduled,sleeping"}},
		{"output", []string{"next", "--every", "1h", "--output", "xml"}},
		{"words separated by commas", []string{"jobs", "list", "--state", `"`}},
		{"queue", []string{"jobs", "list", "--queue", ""}},
		{"error", []string{"jobs", "list", "--error", ""}},
		{"since", []string{"jobs", "cancel", "--since", ""}},
		{"batch", []string{"jobs", "cancel", "--batch", "0"}},
		{"kind", []string{"jobs", "list", "--kind", "\xff"}},
		{"schedule", []string{"jobs", "list", "--schedule", "\x00"}},
		{"limit", []string{"jobs", "list", "--limit", "-1"}},
		{"before", []string{"jobs", "list", "--before", "0"}},
		{"output", []string{"jobs", "list", "--output", "yaml"}},
		{"output", []string{"jobs", "list", "--output", ""}},

		// schedules
		{"NAME", []string{"schedules", "show"}},
		{"NAME", []string{"schedules", "show", ""}},
		{"NAME", []string{"schedules", "pause"}},
		{"NAME", []string{"schedules", "pause", "a\x07b"}},
		{"NAME", []string{"schedules", "resume", "\xff"}},
		{"NAME", []string{"schedules", "trigger", ""}},
		{"NAME", []string{"schedules", "delete", " a"}},
		{"NAME", []string{"schedules", "reset", strings.Repeat("n", 201)}},
		{"limit", []string{"schedules", "list", "--limit", "-5"}},
		{"owner", []string{"schedules", "list", "--owner", "\x00"}},
		{"after", []string{"schedules", "list", "--after", "\xff"}},
		{"NAME", []string{"schedules", "put"}},
		{"NAME", []string{"schedules", "put", "", "--every", "1s", "--", "ls"}},
		{"NAME", []string{"schedules", "put", "\x00", "--every", "1s", "--", "ls"}},
		{"cron", []string{"schedules", "put", "a", "--", "ls"}},
		{"argv", []string{"schedules", "put", "a", "--every", "1s"}},
		{"every", []string{"schedules", "put", "a", "--every", "1s", "--at", "2027-01-01T00:00:00Z", "--", "ls"}},
		{"every", []string{"schedules", "put", "a", "--every", "1ms", "--", "ls"}},
		{"tz", []string{"schedules", "put", "a", "--cron", "@daily", "--tz", "Mars/Base", "--", "ls"}},
		{"kind", []string{"schedules", "put", "a", "--every", "1s", "--kind", ""}},
		{"argv", []string{"schedules", "put", "a", "--every", "1s", "--kind", "greet", "--", "ls"}},
		{"args", []string{"schedules", "put", "a", "--every", "1s", "--kind", "greet", "--args", "{]"}},
		{"queue", []string{"schedules", "put", "a", "--every", "1s", "--queue", "", "--", "ls"}},
		{"priority", []string{"schedules", "put", "a", "--every", "1s", "--priority", "0", "--", "ls"}},
		{"max_attempts", []string{"schedules", "put", "a", "--every", "1s", "--max-attempts", "0", "--", "ls"}},
		{"on_loss", []string{"schedules", "put", "a", "--every", "1s", "--on-loss", "", "--", "ls"}},
		{"overlap", []string{"schedules", "put", "a", "--every", "1s", "--overlap", "maybe", "--", "ls"}},
		{"group", []string{"schedules", "put", "a", "--every", "1s", "--group", "", "--", "ls"}},
		{"if-revision", []string{"schedules", "put", "a", "--every", "1s", "--if-revision", "0", "--", "ls"}},
		{"if-revision", []string{"schedules", "put", "a", "--every", "1s", "--if-revision", "-3", "--", "ls"}},

		// files
		{"FILE", []string{"apply"}},
		{"file", []string{"apply", "missing.yaml"}},
		{"file", []string{"apply", "."}},
		{"broken.yaml:2", []string{"apply", "broken.yaml"}},
		{"FILE", []string{"check"}},
		{"file", []string{"check", "missing.yaml"}},
		{"broken.yaml:2", []string{"check", "broken.yaml"}},
		{"missing", []string{"check", "--crontab", "missing"}},
		{"missing", []string{"check", "--crontab-system", "missing"}},
		{"file", []string{"check", "--crontab", ""}},
		{"broken.tab:1", []string{"check", "broken.tab"}},
		{"output", []string{"check", "broken.yaml", "--output", "xml"}},
		{"FILE", []string{"import"}},
		{"file", []string{"import", "missing"}},
		{"broken.tab:1", []string{"import", "--crontab", "broken.tab"}},

		// slots, queues, nodes
		{"schedule", []string{"slots", "--schedule", ""}},
		{"from", []string{"slots", "--from", "then"}},
		{"to", []string{"slots", "--to", ""}},
		{"to", []string{"slots", "--from", "2027-02-01T00:00:00Z", "--to", "2027-01-01T00:00:00Z"}},
		{"limit", []string{"slots", "--limit", "-1"}},
		{"actor", []string{"audit", "--actor", ""}},
		{"action", []string{"audit", "--action", "a\x00"}},
		{"subject", []string{"audit", "--subject", "nightly"}},
		{"subject", []string{"audit", "--subject", "user:ada"}},
		{"since", []string{"audit", "--since", "yesterday"}},
		{"limit", []string{"audit", "--limit", "-1"}},
		{"by", []string{"stats", "--by", "owner"}},
		{"by", []string{"stats", "--by", ""}},
		{"queue", []string{"stats", "--queue", "a\x00"}},
		{"since", []string{"stats", "--since", "yesterday"}},
		{"output", []string{"queues", "--output", "csv"}},
		{"output", []string{"nodes", "--output", "JSON"}},

		// the store
		{"store", []string{"queues", "--store", "hourbell.db"}},
		{"store", []string{"queues", "--store", "oracle://u:secret@host/db"}},
		{"store", []string{"queues", "--store", "mysql://u:secret@host"}},
		{"store", []string{"queues", "--store", "sqlite:"}},
		{"store", []string{"queues", "--store", "sqlite://host/file.db"}},
		{"store", []string{"queues", "--store", "sqlite::memory:"}},
		{"store", []string{"queues", "--store", "sqlite:a\x00b"}},
		{"store", []string{"queues", "--store", "sqlite:a.db?mode=ro"}},
		{"store", []string{"queues", "--store", "postgres://u:secret%zz@host/db"}},
		{"store", []string{"queues", "--store", "u:secret@host"}},
		{"store", []string{"queues", "--store", "u:secret"}},
		{"store", []string{"queues", "--store", "postgres:/u:secret@host/db"}},
		{"store", []string{"queues", "--store", "postgres:u:secret@host/db"}},
		{"store", []string{"queues", "--store", "sqlite://u:secret@host/db"}},
		{"store", []string{"queues", "--store", "host=h password=secret"}},
		{"schema", []string{"queues", "--schema", "jobs"}}, // a SQLite file has no schemas
		{"store", []string{"queues", "--store", ""}},
		{"schema", []string{"queues", "--store", "postgres://h/db", "--schema", ""}},
		{"schema", []string{"queues", "--store", "postgres://h/db", "--schema", "pg_x"}},
		{"schema", []string{"queues", "--store", "postgres://h/db?schema="}},
		{"schema", []string{"queues", "--store", "postgres://h/db?schema=" + strings.Repeat("s", 64)}},
		{"store-file", []string{"queues", "--store-file", "missing"}},
		{"store-file", []string{"queues", "--store-file", ""}},
		{"store-file", []string{"queues", "--store", "sqlite:a.db", "--store-file", "b"}},
		{"no-migrate", []string{"migrate", "up", "--no-migrate"}},

		// serve
		{"file", []string{"serve", "--file", "missing.yaml"}},
		{"file", []string{"serve", "--file", ""}},
		{"broken.yaml:2", []string{"serve", "--file", "broken.yaml"}},
		{"file", []string{"serve", "--crontab", "missing"}},
		{"file", []string{"serve", "--crontab-system", "missing"}},
		{"queues", []string{"serve", "--queues", ""}},
		{"queues", []string{"serve", "--queues", "a,,b"}},
		{"queues", []string{"serve", "--queues", "a=0"}},
		{"queues", []string{"serve", "--queues", "a=x"}},
		{"queue", []string{"serve", "--queues", "a=10001"}},
		{"queues", []string{"serve", "--queues", "a,a=3"}},
		{"queue", []string{"serve", "--queues", "a\x00"}},
		{"listen", []string{"serve", "--listen", ""}},
		{"listen", []string{"serve", "--listen", "8080"}},
		{"listen", []string{"serve", "--listen", ":http"}},
		{"listen", []string{"serve", "--listen", ":70000"}},
		{"listen", []string{"serve", "--listen", ":8080"}},
		{"listen", []string{"serve", "--listen", "0.0.0.0:8080"}},
		{"listen", []string{"serve", "--listen", "192.0.2.1:8080"}},
		{"listen", []string{"serve", "--listen", "example.org:8080"}},
		{"probes", []string{"serve", "--probes", "8080"}},
		{"auth", []string{"serve", "--auth", "users.json"}},
		{"auth", []string{"serve", "--listen", ":0", "--auth", "missing.json"}},
		{"auth", []string{"serve", "--listen", ":0", "--auth", "broken.yaml"}},
		{"auth", []string{"serve", "--listen", ":0", "--auth", ""}},
		{"tls-key", []string{"serve", "--listen", "127.0.0.1:0", "--tls-cert", "c.pem"}},
		{"tls-cert", []string{"serve", "--listen", "127.0.0.1:0", "--tls-key", "k.pem"}},
		{"tls-cert", []string{"serve", "--listen", "127.0.0.1:0", "--tls-cert", "broken.yaml", "--tls-key", "broken.yaml"}},
		{"user-header", []string{"serve", "--listen", ":0", "--trust-proxy", "10.0.0.0/8"}},
		{"trust-proxy", []string{"serve", "--listen", ":0", "--user-header", "X-User"}},
		{"trust-proxy", []string{"serve", "--listen", ":0", "--user-header", "X-User", "--trust-proxy", "10.0.0.0/99"}},
		{"user-header", []string{"serve", "--listen", ":0", "--user-header", "X User", "--trust-proxy", "10.0.0.1"}},
		{"user-header", []string{"serve", "--listen", ":0", "--user-header", "authorization", "--trust-proxy", "10.0.0.1"}},
		{"callback-keys", []string{"serve", "--callback-keys", "c.pem"}},
		{"callback-keys", []string{"serve", "--listen", "127.0.0.1:0", "--callback-keys", "missing.keys"}},
		{"callback-keys", []string{"serve", "--listen", "127.0.0.1:0", "--callback-keys", "empty.keys"}},
		{"callback key 1", []string{"serve", "--listen", "127.0.0.1:0", "--callback-keys", "broken.yaml"}},

		// auth
		{"auth", []string{"auth", "list"}},
		{"auth", []string{"auth", "list", "--auth", "broken.yaml"}},
		{"NAME", []string{"auth", "add", "--auth", "u.json"}},
		{"role", []string{"auth", "add", "ada", "--auth", "u.json"}},
		{"role", []string{"auth", "add", "ada", "--auth", "u.json", "--role", "root"}},
		{"NAME", []string{"auth", "add", "a\nb", "--auth", "u.json", "--role", "viewer"}},
		{"password", []string{"auth", "add", "ada", "--auth", "u.json", "--role", "viewer"}},
		{"expires", []string{"auth", "token", "ci", "--auth", "u.json", "--role", "viewer", "--expires", "2001-01-01T00:00:00Z"}},
		{"expires", []string{"auth", "token", "ci", "--auth", "u.json", "--role", "viewer", "--expires", "soon"}},
		{"expires", []string{"auth", "token", "ci", "--auth", "u.json", "--role", "viewer", "--expires", "0s"}},
		{"log-level", []string{"serve", "--log-level", "loud"}},
		{"log-format", []string{"serve", "--log-format", "xml"}},
		{"name", []string{"serve", "--name", ""}},
		{"name", []string{"serve", "--name", ".."}},
		{"host", []string{"serve", "--host", ""}},
		{"host", []string{"serve", "--host", "a b"}},
		{"label", []string{"serve", "--label", "role"}},
		{"label", []string{"serve", "--label", "role=db", "--label", "role=web"}},
		{"NAME \"a/../b\" has the segment", []string{"schedules", "put", "a/../b", "--cron", "@daily", "--kind", "k"}},
		{"kind \"..\"", []string{"enqueue", ".."}},
		{"queue \".\"", []string{"enqueue", "k", "--queue", "."}},
		{"name \"..\"", []string{"calendars", "put", "..", "--weekdays", "sat"}},
		{`name "a\\..\\b"`, []string{"exec", `a\..\b`, "--store", "sqlite:locks.db", "--", "true"}},
		{"lease", []string{"serve", "--lease", "0"}},
		{"lease", []string{"serve", "--lease", "1ms"}},
		{"lease", []string{"serve", "--lease", "-5s"}},
		{"drain", []string{"serve", "--drain", "-1s"}},
		{"keep-completed", []string{"serve", "--keep-completed", "-1s"}},
	}
	for _, test := range tests {
		r := b.fails(exitUsage, []string{test.names}, test.args...)
		if r.out != "" {
			t.Errorf("%.200q: stdout %q", test.args, r.out)
		}
		if len(r.err) > 700 {
			t.Errorf("%.200q: the message has %d bytes", test.args, len(r.err))
		}
		if strings.Contains(r.err, "secret") {
			t.Errorf("%.200q: a password in %q", test.args, r.err)
		}
		if strings.ContainsFunc(r.err, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Errorf("%.200q: control characters in %q", test.args, r.err)
		}
	}
	noStore(t, b)
}

// TestBadFileNamesEveryMistake checks that each mistake in a file gets a line
// of its own.
func TestBadFileNamesEveryMistake(t *testing.T) {
	b := newBench(t)
	writeFile(t, "bad.yaml", "schedules:\n  - name: a\n    every: 1s\n  - name: b\n    cron: bogus\n    shell: ls\n")
	for _, args := range [][]string{{"check", "bad.yaml"}, {"apply", "bad.yaml"}, {"serve", "--file", "bad.yaml"}} {
		r := b.run(args...)
		if r.code != exitUsage || r.out != "" {
			t.Errorf("%q: code %d, stdout %q", args, r.code, r.out)
		}
		for _, place := range []string{"hourbell: bad.yaml:2", "hourbell: bad.yaml:5"} {
			if !strings.Contains("\n"+r.err, "\n"+place) {
				t.Errorf("%q: no line begins with %q in:\n%s", args, place, r.err)
			}
		}
	}
	noStore(t, b)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
