package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

func TestEnqueueAndJobs(t *testing.T) {
	b := newBench(t)
	writeFile(t, "args.json", "{\"argv\":[\"echo\",\"from a file\"]}\n")
	equal(t, "first", b.ok("enqueue", "command", "--", "sh", "-c", "echo one; echo two"), "1\n")
	equal(t, "second", b.ok("enqueue", "command", "--env", "WHO=a=b", "--max-attempts", "1", "--shell", `echo "$WHO $HOURBELL_JOB_ID"; exit 3`), "2\n")
	equal(t, "third", b.ok("enqueue", "command", "--args", "@args.json", "--output", "ndjson"), "{\"id\":3}\n")
	b.stdin = `{"n": 12345678901234567890}`
	equal(t, "fourth", b.ok("enqueue", "mail", "--args", "-", "--at", "2099-01-01T00:00:00Z", "--queue", "q", "--priority", "9"), "4\n")
	b.work()

	equal(t, "jobs list", steady(b.ok("jobs", "list")), strings.Join([]string{
		"ID  STATE  KIND  QUEUE  ATTEMPT  RUN AT  TOOK  SCHEDULE  RESULT",
		"4  scheduled  mail  q  0/25  TIME -  -  -",
		"3  completed  command  default  1/25  TIME TOOK -  from a file",
		"2  failed  command  default  1/1  TIME TOOK -  exit code 3",
		"1  completed  command  default  1/25  TIME TOOK -  two", "",
	}, "\n"))
	equal(t, "one queue", b.ok("jobs", "list", "--queue", "other", "--output", "json"), "[]\n")
	if got := ids(b.objects("jobs", "list", "--state", "failed,completed", "--kind", "command", "--before", "3")); got != "[2 1]" {
		t.Errorf("jobs %s", got)
	}
	if got := ids(b.objects("jobs", "list", "--limit", "1")); got != "[4]" {
		t.Errorf("jobs %s", got)
	}

	shown := steady(b.ok("jobs", "show", "2"))
	for _, line := range []string{"state  failed", "reason  exit code 3", `args  {"shell":"echo \"$WHO $HOURBELL_JOB_ID\"; exit 3","env":{"WHO":"…"}}`, "  output:\n  a=b 2\n"} {
		if !strings.Contains(shown, line) {
			t.Errorf("jobs show lacks %q:\n%s", line, shown)
		}
	}
	if shown := b.ok("jobs", "show", "2", "--show-secrets"); !strings.Contains(shown, `"env":{"WHO":"a=b"}`) {
		t.Errorf("jobs show --show-secrets hides something:\n%s", shown)
	}
	if text := b.ok("jobs", "show", "4", "--output", "json"); !strings.Contains(text, "12345678901234567890") {
		t.Errorf("a large number was not kept: %s", text)
	}
}

// TestEnqueueUnique has many processes enqueue the same job at once.
func TestEnqueueUnique(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { enqueueUnique(t, newBench(t)) })
	t.Run("PostgreSQL", func(t *testing.T) {
		url := postgresURL(t)
		b := newBench(t)
		schema := newSchemaName()
		b.env[storeVariable] = url
		t.Cleanup(func() { dropSchema(t, url, schema) })
		enqueueUnique(t, b, "--schema", schema)
	})
}

// TestRetryOfAJobWithAKey checks that a retry of a job whose key another job
// has is a conflict that names the other job.
func TestRetryOfAJobWithAKey(t *testing.T) {
	b := newBench(t)
	enqueue := []string{"enqueue", "mail", "--unique", "invoice 42", "--in", "1h"}
	b.ok(enqueue...)
	b.ok("jobs", "cancel", "1")
	b.ok(enqueue...)
	r := b.fails(exitFailed, []string{"retry job 1: ", "job 2 holds its unique key"}, "jobs", "retry", "1")
	equal(t, "stdout of the conflict", r.out, "")
	if jobs := b.objects("jobs", "show", "1"); jobs[0]["state"] != "cancelled" || jobs[0]["unique"] != "invoice 42" {
		t.Errorf("the refused job is %v", jobs[0])
	}
	b.ok("jobs", "delete", "2")
	equal(t, "retry", b.ok("jobs", "retry", "1"), "job 1: ready to run again\n")
	if jobs := b.objects("jobs", "show", "1"); jobs[0]["state"] != "ready" && jobs[0]["state"] != "scheduled" || jobs[0]["unique"] != "invoice 42" {
		t.Errorf("the retried job is %v", jobs[0])
	}
}

func enqueueUnique(t *testing.T, b *bench, place ...string) {
	b.ok(append([]string{"migrate", "up"}, place...)...)
	type answer struct {
		ID    int64 `json:"id"`
		Found *bool `json:"found"`
	}
	var all sync.WaitGroup
	answers := make([]answer, 8)
	for i := range answers {
		all.Go(func() {
			cmd := b.program(append([]string{"enqueue", "mail", "--unique", "invoice 42", "--in", "1h", "--output", "json"}, place...)...)
			out, err := cmd.Output()
			if err = cmp.Or(err, json.Unmarshal(out, &answers[i])); err != nil {
				t.Errorf("process %d: %v in %q", i, err, out)
			}
		})
	}
	all.Wait()
	stored := 0
	for i, a := range answers {
		if a.ID != answers[0].ID || a.Found == nil {
			t.Errorf("process %d was told %+v, another %+v", i, a, answers[0])
		} else if !*a.Found {
			stored++
		}
	}
	jobs := b.objects(append([]string{"jobs", "list"}, place...)...)
	if stored != 1 || len(jobs) != 1 || jobs[0]["unique"] != "invoice 42" {
		t.Errorf("%d processes stored a job, and there are %v", stored, jobs)
	}
	r := b.run(append([]string{"enqueue", "mail", "--unique", "invoice 42"}, place...)...)
	if r.code != 0 || r.out != fmt.Sprintln(answers[0].ID) || !strings.Contains(r.err, "nothing was added") {
		t.Errorf("another one: %+v", r)
	}
	b.fails(exitUsage, []string{"unique"}, append([]string{"enqueue", "mail", "--unique", "a\nb"}, place...)...)
}

// TestJobRecord checks the fields on which other programs rely.
func TestJobRecord(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "command", "--shell", `printf 'a\377'; exit 1`, "--max-attempts", "1", "--timeout", "90s", "--on-loss", "fail")
	b.ok("enqueue", "later", "--in", "1h")
	b.work()
	jobs := b.objects("jobs", "list")
	later, failed := jobs[0], jobs[1]
	want := strings.Fields(`after args attempt attempts backoff batch cancel_requested created_at errors finished_at group id key kind losses max_attempts name node on_loss origin
		output priority progress queue reason result run_at schedule slot snoozes started_at state stuck_since timeout token unique waits`)
	if got := slices.Sorted(maps.Keys(later)); !slices.Equal(got, want) {
		t.Errorf("fields %q instead of %q", got, want)
	}
	for _, field := range []string{"args", "finished_at", "node", "output", "reason", "schedule", "slot", "started_at", "timeout", "token", "unique"} {
		if later[field] != nil {
			t.Errorf("%s is %v instead of null", field, later[field])
		}
	}
	if later["state"] != "scheduled" || later["origin"] != "enqueue" || later["on_loss"] != "retry" || fmt.Sprint(later["errors"]) != "[]" {
		t.Errorf("a job that waits: %v", later)
	}
	if failed["state"] != "failed" || failed["output"] != "a\uFFFD" || failed["output_base64"] != "Yf8=" || failed["timeout"] != "1m30s" || failed["on_loss"] != "fail" || failed["node"] != "bench" {
		t.Errorf("a job that failed: %v", failed)
	}
	attempts, _ := failed["errors"].([]any)
	if len(attempts) != 1 {
		t.Fatalf("errors: %v", failed["errors"])
	}
	attempt, _ := attempts[0].(map[string]any)
	if got := strings.Join(slices.Sorted(maps.Keys(attempt)), " "); got != "attempt error finished_at node started_at token trace" {
		t.Errorf("fields of an error: %s", got)
	}
	if attempt["error"] != "exit code 1" || attempt["token"] != failed["token"] || attempt["node"] != "bench" || attempt["trace"] != nil {
		t.Errorf("error: %v", attempt)
	}
	attempts, _ = failed["attempts"].([]any)
	if len(attempts) != 1 || fmt.Sprint(later["attempts"]) != "[]" {
		t.Fatalf("attempts: %v, and of the other job %v", failed["attempts"], later["attempts"])
	}
	attempt, _ = attempts[0].(map[string]any)
	if got := strings.Join(slices.Sorted(maps.Keys(attempt)), " "); got != "attempt error finished_at node outcome started_at token" {
		t.Errorf("fields of an attempt: %s", got)
	}
	if attempt["outcome"] != "failed" || attempt["error"] != "exit code 1" || attempt["token"] != failed["token"] || attempt["node"] != "bench" {
		t.Errorf("attempt: %v", attempt)
	}
	shown := b.ok("jobs", "show", fmt.Sprint(failed["id"]))
	if !regexp.MustCompile(`(?m)^ATTEMPT +TOKEN +NODE +STARTED AT +FINISHED AT +OUTCOME +ERROR\n1 +\d+ +bench .* failed +exit code 1$`).MatchString(shown) {
		t.Errorf("jobs show lacks the table of attempts:\n%s", shown)
	}
}

func TestJobsChange(t *testing.T) {
	b := newBench(t)
	for range 4 {
		b.ok("enqueue", "idle")
	}
	equal(t, "cancel", b.ok("jobs", "cancel", "1", "2", "2"), "job 1: cancelled\njob 2: cancelled\n")
	equal(t, "cancel again", b.ok("jobs", "cancel", "1"), "job 1: had finished already\n")
	equal(t, "retry", b.ok("jobs", "retry", "1"), "job 1: ready to run again\n")
	equal(t, "delete", b.ok("jobs", "delete", "1"), "job 1: deleted\n")
	r := b.fails(exitFailed, []string{"job 1", "not found"}, "jobs", "delete", "1", "2")
	equal(t, "the rest is done", r.out, "job 2: deleted\n")
	b.fails(exitFailed, []string{"job 1", "not found"}, "jobs", "show", "1")
	r = b.run("jobs", "cancel", "77", "3", "88")
	if r.code != exitFailed || strings.Count(r.err, "\n") != 2 || r.out != "job 3: cancelled\n" {
		t.Errorf("cancel of two that are missing: %+v", r)
	}
	if got := ids(b.objects("jobs", "list", "--state", "ready")); got != "[4]" {
		t.Errorf("jobs %s are left", got)
	}
	b.ok("schedules", "put", "s", "--every", "1h", "--kind", "idle")
	b.ok("schedules", "trigger", "s", "s")
	equal(t, "cancel by schedule", b.ok("jobs", "cancel", "--schedule", "s"), "job 5: cancelled\njob 6: cancelled\n2 jobs: cancelled\n")
	equal(t, "nothing to cancel", b.ok("jobs", "cancel", "--schedule", "s"), "no job matches\n")
	b.fails(exitFailed, []string{"bogus", "not found"}, "jobs", "cancel", "--schedule", "bogus")
}

// Programs get a record of each change, also of changes that failed; the exit code is
// the same as for people.
func TestJobsChangeOutput(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "idle", "--unique", "x")
	b.ok("enqueue", "idle")
	equal(t, "cancel", b.ok("jobs", "cancel", "1", "2", "--output", "ndjson"), `{"id":1,"change":"changed"}`+"\n"+`{"id":2,"change":"changed"}`+"\n")
	equal(t, "cancel again", b.ok("jobs", "cancel", "1", "--output", "json"), "[\n  "+`{"id":1,"change":"unchanged"}`+"\n]\n")
	b.ok("enqueue", "idle", "--unique", "x") // 3
	r := b.run("jobs", "retry", "1", "9", "2", "--output", "ndjson")
	if lines := strings.Split(r.err, "\n"); r.code != exitFailed || len(lines) != 3 || !strings.HasPrefix(lines[0], "hourbell: retry job 1: job 3 holds its unique key; ") || !strings.Contains(lines[1], "job 9") {
		t.Errorf("code %d, stderr %q", r.code, r.err)
	}
	equal(t, "retry", r.out, `{"id":1,"change":"conflict","holder":3}`+"\n"+`{"id":9,"change":"not found"}`+"\n"+`{"id":2,"change":"changed"}`+"\n")
	equal(t, "as a table", b.ok("jobs", "delete", "2", "--output", "table"), "job 2: deleted\n")
	r = b.fails(exitFailed, []string{"job 2"}, "jobs", "delete", "2", "1", "--output", "ndjson")
	equal(t, "delete", r.out, `{"id":2,"change":"not found"}`+"\n"+`{"id":1,"change":"changed"}`+"\n")
	b.ok("schedules", "put", "s", "--every", "1h", "--kind", "idle")
	equal(t, "nothing to cancel", b.ok("jobs", "cancel", "--schedule", "s", "--output", "json"), "[]\n")
	b.ok("schedules", "trigger", "s")
	equal(t, "cancel by schedule", b.ok("jobs", "cancel", "--schedule", "s", "--output", "ndjson"), `{"id":4,"change":"changed"}`+"\n")

	runs := hourbell.NewWorkers()
	runs.Handle("runs", func(ctx context.Context, _ *hourbell.JobRow) error { <-ctx.Done(); return hourbell.Cancel(ctx.Err()) })
	client, stop := b.node(hourbell.Config{Workers: runs, Logger: slog.New(slog.DiscardHandler)})
	defer stop()
	b.ok("enqueue", "runs") // 5
	eventually(t, "the job runs", func() bool {
		job, err := client.Jobs.Get(t.Context(), 5)
		return err == nil && job.State == store.StateRunning
	})
	r = b.fails(exitFailed, []string{"job 5: it is running"}, "jobs", "delete", "5", "--output", "ndjson")
	equal(t, "delete of a running job", r.out, `{"id":5,"change":"unchanged"}`+"\n")
	equal(t, "cancel of a running job", b.ok("jobs", "cancel", "5", "--output", "ndjson"), `{"id":5,"change":"requested"}`+"\n")
}

func TestSchedules(t *testing.T) {
	b := newBench(t)
	put := b.ok("schedules", "put", "hello", "--cron", "0 9 1 1 *", "--tz", "Asia/Tokyo", "--overlap", "allow", "--group", "g", "--", "echo", "hi <you>")
	if !strings.HasPrefix(put, `schedule "hello": revision 1, next `) || !strings.HasSuffix(put, "-01-01T09:00:00+09:00\n") {
		t.Errorf("put prints %q", put)
	}
	b.ok("schedules", "put", "会議", "--every", "1h", "--kind", "meet", "--args", `{"room":7}`, "--paused")
	b.run("schedules", "put", "once", "--at", "2020-01-01T00:00:00Z", "--shell", "date")
	equal(t, "list", steady(b.ok("schedules", "list")), strings.Join([]string{
		"NAME  RULE  STATE  LAST 20  NEXT  FIRED  RUNS  OWNER",
		`hello  CRON_TZ=Asia/Tokyo 0 9 1 1 *  active  -  TIME 0  ["echo" "hi <you>"]  -`,
		"once  at TIME ended  -  -  0  sh: date  -",
		"会議  every 1h  paused  -  -  0  meet  -", "",
	}, "\n"))

	record := b.objects("schedules", "list")[0]
	want := strings.Fields(`anchor args at backoff created_at cron deleted_at every failing_since fired group group_paused_at group_paused_until key health kind made_from mark max_attempts name next_at hooks on_failure on_loss on_missed on_recovery
		overlap owner paused paused_at priority problem queue revision state timeout tz updated_at
		count dialect exclude failures fold gap grace jitter misfire misfire_cap on pause_after_failures paused_until rule start stop waits window after`)
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(record)); !slices.Equal(got, want) {
		t.Errorf("fields %q instead of %q", got, want)
	}
	if record["cron"] != "0 9 1 1 *" || record["every"] != nil || record["overlap"] != "allow" || record["owner"] != nil || record["paused"] != false {
		t.Errorf("a schedule: %v", record)
	}

	equal(t, "pause", b.ok("schedules", "pause", "hello", "once"), "schedule \"hello\": paused\nschedule \"once\": paused\n")
	if s := steady(b.ok("schedules", "show", "hello")); !strings.Contains(s, "state  paused\n") || !strings.Contains(s, "overlap  allow\n") {
		t.Errorf("show prints %s", s)
	}
	equal(t, "resume", b.ok("schedules", "resume", "hello"), "schedule \"hello\": resumed\n")
	equal(t, "reset", b.ok("schedules", "reset", "hello"), "schedule \"hello\": reset\n")
	equal(t, "trigger", b.ok("schedules", "trigger", "会議"), "1\n")
	b.fails(exitFailed, []string{"bogus", "not found"}, "schedules", "trigger", "bogus")
	b.fails(exitFailed, []string{"not found"}, "schedules", "delete", "hello", "bogus")
	equal(t, "delete", b.ok("schedules", "delete", "hello"), "schedule \"hello\": deleted\n")
	b.fails(exitFailed, []string{"hello", "not found"}, "schedules", "show", "hello")
	if got := len(b.objects("schedules", "list")); got != 2 {
		t.Errorf("%d schedules are left", got)
	}
	if got := len(b.objects("schedules", "list", "--deleted", "--after", "a")); got != 3 {
		t.Errorf("%d schedules with those deleted", got)
	}
}

func TestPutComparesTheRevision(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "a", "--every", "1h", "--", "one")
	b.ok("schedules", "put", "a", "--every", "1h", "--if-revision", "1", "--", "two")
	b.fails(exitFailed, []string{"a", "schedules show", "current revision"}, "schedules", "put", "a", "--every", "1h", "--if-revision", "1", "--", "three")
	b.fails(exitFailed, []string{"b"}, "schedules", "put", "b", "--every", "1h", "--if-revision", "9", "--", "x")
	if text := b.ok("schedules", "show", "a", "--output", "ndjson"); !strings.Contains(text, `"argv":["two"]`) {
		t.Errorf("the schedule is %s", text)
	}
}

func TestApplyAndCheck(t *testing.T) {
	b := newBench(t)
	const first = "owner: ops\nrevision: 5\nschedules:\n  - {name: a, every: 90s, shell: date}\n  - {name: b, cron: '0 9 * * *', tz: Asia/Tokyo, command: [date]}\n"
	writeFile(t, "s.yaml", first)
	if text := b.ok("check", "s.yaml"); !strings.HasPrefix(text, "s.yaml: schedule file, 2 schedules of owner \"ops\", revision 5\n\n  a\n") || !strings.Contains(text, "    next    2027-03-02T09:00:00+09:00\n            2027-03-03T09:00:00+09:00\n") {
		t.Errorf("check prints %s", text)
	}
	b.stdin = "owner: o\nschedules:\n  - {name: past, at: 2020-01-01T00:00:00Z, shell: date}\n"
	if text := b.ok("check", "-"); !strings.Contains(text, "never from now on") {
		t.Errorf("check of what is over prints %s", text)
	}
	b.fails(exitUsage, []string{"s.yaml", "owner"}, "check", "s.yaml", "./s.yaml")
	noStore(t, b)

	equal(t, "apply", b.ok("apply", "s.yaml"), "owner \"ops\": 2 changed, 0 unchanged, 0 deleted\n")
	b.stdin = strings.Replace(first, "  - {name: a, every: 90s, shell: date}\n", "", 1)
	equal(t, "apply stdin", b.ok("apply", "-"), "owner \"ops\": 0 changed, 1 unchanged, 0 deleted\n")
	equal(t, "prune", b.ok("apply", "--prune", "-"), "owner \"ops\": 0 changed, 1 unchanged, 1 deleted\n")
	b.stdin = strings.Replace(first, "revision: 5", "revision: 4", 1)
	for _, args := range [][]string{{"apply", "-"}, {"apply", "--prune", "-"}} {
		if got := b.fails(exitFailed, []string{"ops", "newer revision", "give the file a revision"}, args...); strings.Contains(got.err, "without --prune") {
			t.Errorf("an older revision is refused without --prune, too: %s", got.err)
		}
	}
	b.stdin = strings.NewReplacer("revision: 5\n", "", "  - {name: a, every: 90s, shell: date}\n", "").Replace(first)
	b.fails(exitFailed, []string{"newer revision", "apply it without --prune"}, "apply", "--prune", "-")
	b.ok("apply", "-")
	b.stdin = strings.Replace(first, "owner: ops", "owner: dev", 1)
	b.fails(exitFailed, []string{"ops"}, "apply", "-")
	if got := b.objects("schedules", "list", "--owner", "ops"); len(got) != 1 || got[0]["name"] != "b" {
		t.Errorf("schedules of ops: %v", got)
	}
	if got := b.objects("schedules", "list", "--owner", ""); len(got) != 0 {
		t.Errorf("schedules of an unknown owner: %v", got)
	}
}

// TestReadingCreatesNothing checks that commands which read say that there is no Hourbell, and make no file.
func TestReadingCreatesNothing(t *testing.T) {
	b := newBench(t)
	for _, args := range [][]string{
		{"jobs", "list"},
		{"jobs", "show", "1"},
		{"jobs", "count"},
		{"schedules", "list"},
		{"schedules", "show", "a"},
		{"slots"},
		{"queues"},
		{"nodes"},
		{"events"},
		{"audit"},
		{"stats"},
		{"limits", "show", "a"},
		{"calendars", "show", "a"},
		{"batches", "show", "1"},
		{"top", "--once"},
		{"explain", "a"},
	} {
		b.fails(exitFailed, []string{"there is no Hourbell in this store", "hourbell migrate up"}, args...)
	}
	if _, err := os.Stat(b.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after reading, the file: %v", err)
	}
}

func TestEmptyListings(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	for _, args := range [][]string{{"jobs", "list"}, {"schedules", "list"}, {"slots"}, {"queues"}, {"kinds"}, {"kinds", "list"}, {"nodes"}} {
		equal(t, fmt.Sprint(args, " json"), b.ok(append(args, "--output", "json")...), "[]\n")
		equal(t, fmt.Sprint(args, " ndjson"), b.ok(append(args, "--output", "ndjson")...), "")
		if table := b.ok(args...); strings.Count(table, "\n") != 1 {
			t.Errorf("%q prints %q", args, table)
		}
	}
}

func TestQueuesAndNodes(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "a")
	b.ok("enqueue", "a", "--in", "1h")
	b.ok("enqueue", "command", "--", "true")
	b.work()
	equal(t, "queues", steady(b.ok("queues")), "QUEUE  READY  SCHEDULED  RUNNING  WAITING  OLDEST  PAUSED\ndefault  1  1  0  0  TIME -\n")
	equal(t, "queues", steady(b.ok("queues", "--output", "ndjson")), `{"name":"default","ready":1,"scheduled":1,"running":0,"waiting":0,"oldest":"TIME ","estimated":false,"paused_at":null,"paused_until":null,"paused_by":null,"pause_reason":null}`+"\n")
	equal(t, "queues list", b.ok("queues", "list"), b.ok("queues"))
	equal(t, "kinds", steady(b.ok("kinds")), "KIND  READY  SCHEDULED  RUNNING  WAITING  OLDEST  PAUSED\na  1  1  0  0  TIME -\n")
	equal(t, "kinds list", b.ok("kinds", "list"), b.ok("kinds"))
	equal(t, "nodes", steady(b.ok("nodes")), "ID  NAME  HOST  LABELS  STATE  RUNNING  QUEUES  KINDS  STARTED  SEEN  VERSION  DIFFERS\n1  bench  tower  -  left  0  default  command  TIME TIME 0.1.0  -\n")
	node := b.objects("nodes")[0]
	if node["name"] != "bench" || node["state"] != "left" || node["lease"] != "15s" || fmt.Sprint(node["kinds"]) != "[command]" || node["host"] != "tower" || fmt.Sprint(node["labels"]) != "[]" || fmt.Sprint(node["differs"]) != "[]" {
		t.Errorf("node %v", node)
	}
}

// TestLongListing checks that successive pages have neither gaps nor
// duplicates.
func TestLongListing(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	text.WriteString("schedules:\n")
	const n = 2*pageSize + 50
	for i := range n {
		fmt.Fprintf(&text, "  - {name: s%04d, every: 1h, kind: idle}\n", i)
	}
	writeFile(t, "many.yaml", text.String())
	b.ok("apply", "many.yaml")
	for _, limit := range []int{1, pageSize - 1, pageSize, pageSize + 1, n, n + 1, 0} {
		got := b.objects("schedules", "list", "--limit", fmt.Sprint(limit))
		want := limit
		if limit == 0 || limit > n {
			want = n
		}
		if len(got) != want || got[len(got)-1]["name"] != fmt.Sprintf("s%04d", want-1) {
			t.Errorf("limit %d: %d rows, last %v", limit, len(got), got[len(got)-1]["name"])
		}
	}
	if got := b.objects("schedules", "list"); len(got) != n {
		t.Errorf("as ndjson: %d rows", len(got))
	}
	r := b.run("schedules", "list")
	if rows := strings.Count(r.out, "\n") - 1; r.code != exitDone || rows != tableRows || !strings.Contains(r.err, "--limit 0 lists all") {
		t.Errorf("as a table: exit code %d, %d rows, stderr %q", r.code, rows, r.err)
	}
	if rows := strings.Count(b.ok("schedules", "list", "--limit", "0"), "\n") - 1; rows != n {
		t.Errorf("as a table without a limit: %d rows", rows)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(b.ok("schedules", "list", "--output", "json")), &list); err != nil || len(list) != n {
		t.Errorf("as json: %d rows, %v", len(list), err)
	}
}

// TestHostileText checks that texts in the store are preserved, and that no
// control characters reach a terminal.
func TestHostileText(t *testing.T) {
	b := newBench(t)
	names := []string{"'; DROP TABLE hourbell_schedules; --", "/etc/passwd", "%s%n", "<script>", "a\"b\\c", "שלום", "e\u0301", "\u202Egnp.exe"}
	for _, name := range names {
		b.ok("schedules", "put", name, "--every", "1h", "--kind", "idle")
	}
	found := map[string]bool{}
	for _, s := range b.objects("schedules", "list") {
		found[fmt.Sprint(s["name"])] = true
	}
	for _, name := range names {
		if !found[name] {
			t.Errorf("%q was not kept: %v", name, found)
		}
	}
	b.ok("enqueue", "command", "--max-attempts", "1", "--shell", `printf '\033[2J\033]0;title\007red\r\n\tx\342\200\256y'; exit 1`)
	b.work()
	tables := b.ok("jobs", "list") + b.ok("jobs", "show", "1") + b.ok("schedules", "list")
	if strings.ContainsAny(tables, "\x1b\x07\r\u202E") {
		t.Errorf("control characters in %q", tables)
	}
	if !strings.Contains(tables, `\x1b[2J`) {
		t.Errorf("escapes are not shown: %q", tables)
	}
	if got := b.objects("jobs", "list")[0]["output"]; got != "\x1b[2J\x1b]0;title\x07red\r\n\tx\u202Ey" {
		t.Errorf("output %q", got)
	}
}

func TestMigrate(t *testing.T) {
	b := newBench(t)
	for _, store := range []string{"sqlite:nowhere.db", "sqlite:/no/such/folder/x.db", "postgres://", "postgres://nobody@nowhere.invalid/db"} {
		if sql := b.ok("migrate", "print", "--store", store); !strings.Contains(sql, "-- Step 1, tables.\n") || !strings.Contains(strings.ToUpper(sql), "CREATE TABLE") {
			t.Errorf("%s: prints %.200q", store, sql)
		}
	}
	if sql := b.ok("migrate", "print", "--store", "postgres://", "--schema", "my jobs"); !strings.Contains(sql, `"my jobs"`) {
		t.Errorf("the schema is not in %.200q", sql)
	}
	b.fails(exitFailed, []string{"migrate up"}, "jobs", "list", "--no-migrate")
	b.fails(exitFailed, []string{"migrate up"}, "serve", "--no-migrate")
	if status := steady(b.ok("migrate", "status")); !strings.HasPrefix(status, "STEP  NAME  APPLIED\n1  tables  no\n") || strings.Contains(status, "yes") {
		t.Errorf("status before:\n%s", status)
	}
	noStore(t, b)
	if up := b.ok("migrate", "up"); !strings.HasPrefix(up, "applied step 1, tables\n") {
		t.Errorf("up:\n%s", up)
	}
	equal(t, "up again", b.ok("migrate", "up"), "the schema is up to date\n")
	if status := b.ok("migrate", "status", "--output", "ndjson"); !strings.HasPrefix(status, `{"step":1,"name":"tables","applied":true}`+"\n") || strings.Contains(status, "false") {
		t.Errorf("status after:\n%s", status)
	}
	equal(t, "now it fits", b.ok("jobs", "list", "--no-migrate", "--output", "json"), "[]\n")

	db, err := sql.Open("sqlite", b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE hourbell_schema_version SET name = 'schema'"); err != nil { // a step that was replaced
		t.Fatal(err)
	}
	remedy := []string{`step 1 is "schema"`, "save what you need, drop the tables", "`hourbell migrate up`"}
	for _, command := range []string{"migrate up", "migrate status", "jobs list", "jobs list --no-migrate", "enqueue idle", "serve", "serve --no-migrate"} {
		b.fails(exitFailed, remedy, strings.Fields(command)...)
	}
}

func TestStoreIsFound(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "one", "--store", "sqlite:flag.db")
	b.ok("enqueue", "two")
	b.env = nil
	b.ok("enqueue", "three")
	b.ok("enqueue", "four", "--store", "sqlite://"+b.path)
	for file, want := range map[string]int{"flag.db": 1, "hourbell.db": 1, b.path: 2} {
		if got := len(b.objects("jobs", "list", "--store", "sqlite:"+file)); got != want {
			t.Errorf("%s has %d jobs instead of %d", file, got, want)
		}
	}
	b.fails(exitFailed, []string{"no/such"}, "jobs", "list", "--store", "sqlite:no/such/folder.db")
	writeFile(t, "text.db", strings.Repeat("this is no database\n", 100))
	b.fails(exitFailed, []string{"text.db"}, "jobs", "list", "--store", "sqlite:text.db")
	if text, _ := os.ReadFile("text.db"); !strings.HasPrefix(string(text), "this is no database\n") {
		t.Error("a file that is no database was changed")
	}
}

// TestPasswordsStaySecret checks every message about a store that cannot be
// reached.
func TestPasswordsStaySecret(t *testing.T) {
	b := newBench(t)
	for _, store := range []string{
		"postgres://user:s3cret@127.0.0.1:1/db", "postgresql://user:s3cret@127.0.0.1:1/db?sslmode=disable",
		"postgres://127.0.0.1:1/db?user=u&password=s3cret", "postgres://user:s3cret@127.0.0.1:1/db?sslmode=s3cret",
	} {
		for _, args := range [][]string{{"jobs", "list"}, {"migrate", "up"}, {"migrate", "status"}, {"serve"}} {
			r := b.fails(exitFailed, nil, append(args, "--store", store)...)
			if strings.Contains(r.err, "s3cret") || r.out != "" {
				t.Errorf("%q: %+v", args, r)
			}
		}
	}
}

func ids(jobs []map[string]any) string {
	var list []any
	for _, job := range jobs {
		list = append(list, job["id"])
	}
	return fmt.Sprint(list)
}
