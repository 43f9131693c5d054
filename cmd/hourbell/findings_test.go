package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
)

// TestTenFailuresAtThreeInTheMorning walks through the drill of docs/production.md with real nodes on a database server of its own: it makes
// each failure happen, looks for what the page has of it in doctor, top, the overview page, the API, the metrics, /readyz and the log,
// leaves by the commands of the page, and sees it go.
func TestTenFailuresAtThreeInTheMorning(t *testing.T) {
	startsProcesses(t)
	failures := readDrill(t) // before newBench changes the folder
	server := testserver.New(t)
	program, args, _ := server.PrepareMariaDB()
	begin := func() { server.Start(syscall.SIGKILL, nil, program, args...) }
	begin()
	admin, err := sql.Open("mysql", fmt.Sprintf("u:p@tcp(127.0.0.1:%d)/db", server.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	order := func(statements ...string) {
		t.Helper()
		for _, one := range statements {
			if _, err := admin.ExecContext(t.Context(), one); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
	}
	order("CREATE USER node@'127.0.0.1' IDENTIFIED BY 'p'", "GRANT ALL ON db.* TO node@'127.0.0.1'") // read_only=ON concerns it
	url := fmt.Sprintf("mysql://node:p@127.0.0.1:%d/db", server.Port)
	d := &walk{bench: newBench(t), failures: failures, left: map[string]bool{}}
	d.env[storeVariable] = url

	d.does("schedules", "put", "nightly", "--every", "2s", "--", "true")
	d.sees("No node lives")
	d.leaves("No node lives", "", "--name", "wren", "--host", "tree", "--lease", "2s", "--commands", "any", "--listen", "127.0.0.1:0")
	d.ok("schedules", "delete", "nightly")
	d.isGone("No node lives")

	wren := d.node
	long := fmt.Sprint(d.enqueued("command", "--", "sleep", "1000")["id"])
	eventually(t, "the job runs", func() bool { return d.objects("jobs", "show", long)[0]["node"] == "wren" })
	const good = "schedules:\n  - {name: bell, every: 1h, shell: 'true'}\n"
	writeFile(t, "schedules.yaml", good)
	d.serve("--file", "schedules.yaml", "--listen", "127.0.0.1:0", "--host", "belfry", "--name", "tower", "--lease", "2s", "--commands", "any")
	d.isReady()
	wren.signal(syscall.SIGKILL)
	eventually(t, "another node has the job", func() bool { return d.objects("jobs", "show", long)[0]["node"] == "tower" })
	d.ok("jobs", "cancel", long)

	backend, err := mysql.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	together := []string{"A node died", "The clock of the database was ahead", "All jobs of a schedule fail", "No node takes a job", "A pause was forgotten"}
	d.ok("queues", "pause", "mail", "--reason", "the mail server moves")
	d.does("enqueue", "mail", "--queue", "mail")
	d.does("enqueue", "command", "--queue", "reports", "--", "true")
	fireAhead(t, d.bench, backend, "hourly")
	failTimes(t, d.bench, backend, "invoices", 12)
	d.does("schedules", "put", "there", "--every", "1s", "--grace", "1s", "--misfire", "all", "--on", "host=elsewhere", "--kind", "mail")
	elsewhere := &failure{level: "error", check: "schedule-overdue", found: anyWords("schedule there has not fired"), everywhere: true}
	for _, name := range together {
		d.sees(name)
	}
	d.awaits(elsewhere, true)
	if list := d.ok("schedules", "list"); !strings.Contains(list, "✗✗✗✗✗✗✗✗✗✗✗✗") || !strings.Contains(list, "failing") {
		t.Errorf("the list of schedules is\n%s", list)
	}
	if _, page := d.get("/schedules"); strings.Count(page, "✗") < 12 {
		t.Error("the page of schedules has no strip of outcomes")
	}
	if health := fmt.Sprint(d.objects("schedules", "show", "invoices")[0]["health"]); !strings.Contains(health, "failing:true failures:12") {
		t.Errorf("the health of the schedule is %s", health)
	}
	if slot := d.objects("slots", "--schedule", "invoices")[0]; slot["outcome"] != "fired" || slot["job_state"] != "failed" {
		t.Errorf("the slot is %v", slot)
	}

	d.ok("schedules", "delete", "there") // its due slots fire before
	d.ok("jobs", "cancel", "--queue", "default@elsewhere")
	tower := d.node
	_, found := d.doctor()
	for _, name := range together {
		job := jobInText.FindStringSubmatch(fmt.Sprint(found[failures[name].check]["found"], " job 0"))[1]
		d.leaves(name, job, "--name", "wren", "--host", "tree", "--lease", "2s", "--commands", "any")
	}
	d.ok("jobs", "cancel", "--queue", "mail")
	d.node = tower

	writeFile(t, "schedules.yaml", good+"  - {name: bell2, evry: 1h}\n")
	d.sees("A file has a mistake")
	if code, _ := d.get("/livez"); code != http.StatusOK {
		t.Errorf("livez answers %d", code)
	}
	if problems := fmt.Sprint(d.objects("nodes")); !strings.Contains(problems, "schedules.yaml:3") {
		t.Errorf("hourbell nodes has the problems %s", problems)
	}
	for _, name := range together[1:] { // a death stays for an hour
		d.isGone(name)
	}
	d.awaits(elsewhere, false)
	writeFile(t, "schedules.yaml", good+"  - {name: bell2, every: 1h, shell: 'true'}\n")
	d.leaves("A file has a mistake", "")
	d.isReady()

	order("SET GLOBAL read_only = ON")
	d.sees("The database takes no writes")
	d.isGone("A file has a mistake")
	order("SET GLOBAL read_only = OFF")
	d.isGone("The database takes no writes")
	d.isReady()

	data, backup := filepath.Join(server.Data, "mariadb"), filepath.Join(server.Data, "backup")
	stop := func() {
		t.Helper()
		order("SHUTDOWN")
		eventually(t, "the server has ended", func() bool { _, err := os.Stat(filepath.Join(data, "pid")); return errors.Is(err, fs.ErrNotExist) })
	}
	clone := func(from, to string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	stop()
	d.sees("The database does not answer")
	clone(data, backup)
	begin()
	d.isReady()
	for range 3 {
		id := fmt.Sprint(d.enqueued("command", "--", "true")["id"])
		eventually(t, "the job has run", func() bool { return d.objects("jobs", "show", id)[0]["state"] == "completed" })
	}
	d.isGone("The database does not answer")
	stop()
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	clone(backup, data)
	begin()
	d.sees("The database was restored from a backup")
	d.leaves("The database was restored from a backup", "")
	d.isGone("The database was restored from a backup")
	d.isReady()

	for name := range failures {
		if !d.left[name] {
			t.Errorf("the page has %q, and the walk has not", name)
		}
	}
}

// fireAhead fires a slot of a new schedule that is two hours ahead, as while the clock of the store is wrong.
func fireAhead(t *testing.T, b *bench, backend store.Backend, name string) {
	t.Helper()
	b.ok("schedules", "put", name, "--every", "24h", "--kind", "mail")
	later := time.Now().Add(2 * time.Hour)
	eventually(t, "the schedule is ahead", func() bool {
		rows, err := store.List[store.Schedule](t.Context(), backend, store.ListRequest{Names: []string{name}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if rows[0].Mark.After(time.Now()) { // slots up to then are accounted for
			return true
		}
		// A node that plans the schedule at the same time has the decision refused.
		_, err = backend.Fire(t.Context(), store.FireRequest{Now: later.Add(48 * time.Hour), Firings: []store.Firing{{
			Schedule: rows[0].ID, Revision: rows[0].Revision, Mark: rows[0].Mark, NextAt: rows[0].NextAt, NewMark: later, NewNextAt: later.Add(time.Hour),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return false
	})
}

// failTimes fires some slots of a new schedule whose command fails. A node must run.
func failTimes(t *testing.T, b *bench, backend store.Backend, name string, times int) {
	t.Helper()
	b.ok("schedules", "put", name, "--every", "24h", "--", "false")
	var s store.Schedule
	eventually(t, "a node has planned the schedule", func() bool {
		rows, err := store.List[store.Schedule](t.Context(), backend, store.ListRequest{Names: []string{name}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		s = rows[0]
		return s.NextAt.After(s.Mark)
	})
	firing := store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, NewMark: s.Mark, NewNextAt: s.NextAt.Add(time.Hour), Overlap: store.OverlapAllow,
	}
	for i := range times {
		slot := s.Mark.Add(time.Duration(i-times) * time.Minute)
		firing.Jobs = append(firing.Jobs, store.NewJob{
			JobSpec:  store.JobSpec{Kind: "command", Queue: "default", Args: []byte(`{"argv":["false"]}`), Priority: 5, MaxAttempts: 1},
			Schedule: s.ID, Slot: slot, RunAt: slot, Origin: store.OriginSchedule,
		})
	}
	if fired, err := backend.Fire(t.Context(), store.FireRequest{Firings: []store.Firing{firing}, Replan: true}); err != nil || len(fired.Fired) != len(firing.Jobs) {
		t.Fatalf("fired %+v, %v", fired, err)
	}
}

// jobInText finds the number of a job in a finding.
var jobInText = regexp.MustCompile(`job ([0-9]+)`)

// walk is a walk through the drill.
type walk struct {
	*bench
	failures map[string]*failure
	left     map[string]bool // the failures whose ways out were taken
	node     *process        // that is asked; nil: none
	// metrics is what the node reported when it was ready last, and logged is how much it had logged then.
	metrics string
	logged  int
}

// serve starts a node, which is asked from now on.
func (d *walk) serve(args ...string) {
	d.t.Helper()
	d.node, d.logged = d.bench.serve(args...), 0
	d.node.awaits("node started", 1)
}

// does runs a command that must succeed; it may warn.
func (d *walk) does(args ...string) {
	d.t.Helper()
	if r := d.run(args...); r.code != exitDone {
		d.t.Fatalf("%q: exit code %d, stderr %q", args, r.code, r.err)
	}
}

// get asks the node. The code 0 means that it does not answer.
func (d *walk) get(path string) (code int, body string) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+d.node.apiAddress()+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// sees waits until a failure is in all places that the page names.
func (d *walk) sees(name string) {
	d.t.Helper()
	f := d.failures[name]
	if f == nil {
		d.t.Fatalf("the page has no failure %q", name)
	}
	d.awaits(f, true)
	if f.log != "" {
		eventually(d.t, "the log has "+f.log, func() bool { return strings.Contains(d.node.logged()[d.logged:], f.log) })
	}
}

// leaves runs the commands of a way out. JOB in them is a job, and options are further flags of nodes.
func (d *walk) leaves(name, job string, options ...string) {
	d.t.Helper()
	d.left[name] = true
	for _, command := range d.failures[name].wayOut {
		args := strings.Fields(strings.ReplaceAll(command, "JOB", job))
		if args[0] == "serve" {
			d.serve(append(args[1:], options...)...)
		} else {
			d.does(args...)
		}
	}
}

// isGone waits until a failure is in none of the places.
func (d *walk) isGone(name string) {
	d.t.Helper()
	d.left[name] = true
	d.awaits(d.failures[name], false)
}

// isReady waits until the node is ready. What it reports and logs from then on belongs to the next failure.
func (d *walk) isReady() {
	d.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		code, body := d.get("/readyz")
		if code == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("/readyz answers %d %s", code, body)
		}
	}
	_, d.metrics = d.get("/metrics")
	d.logged = len(d.node.logged())
}

// awaits waits until a failure is in all of its places, or in none.
func (d *walk) awaits(f *failure, there bool) {
	d.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		wrong := d.compare(f, there)
		if len(wrong) == 0 {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%s: not as expected (there: %v): %s\n%s", f.check, there, strings.Join(wrong, ", "), d.run("doctor").out)
		}
	}
}

// compare returns the places that have a failure and should not, or have not and should.
func (d *walk) compare(f *failure, there bool) (wrong []string) {
	expect := func(place string, has bool) {
		if has != there {
			wrong = append(wrong, place)
		}
	}
	if d.node != nil {
		if d.compareNode(f, there, expect); len(wrong) > 0 {
			return wrong // a command takes longer than an answer of the node
		}
	}
	code, found := d.doctor()
	one := found[f.check]
	expect("doctor", one["result"] == f.level && f.found.MatchString(fmt.Sprint(one["found"])) && (one["remedy"] != nil || !f.everywhere))
	if there && f.level == "error" && code != exitFailed {
		wrong = append(wrong, fmt.Sprint("the exit code of doctor ", code))
	}
	switch top := d.run("top", "--once"); {
	case f.top != nil:
		expect("top", top.code == exitFailed && f.top.MatchString(top.err))
	case f.everywhere:
		expect("top", f.found.MatchString(top.out))
	}
	return wrong
}

// compareNode is compare for what the node answers.
func (d *walk) compareNode(f *failure, there bool, expect func(place string, has bool)) {
	d.t.Helper()
	if there && f.reason != nil {
		code, answer := d.get("/readyz")
		expect("/readyz", code == f.code && f.reason.MatchString(answer))
	}
	_, metrics := d.get("/metrics")
	switch {
	case f.metric == nil:
	case !f.rises:
		expect("the metric", f.metric.MatchString(metrics))
	case there:
		line := f.metric.FindString(metrics)
		expect("the metric", line != "" && line != f.metric.FindString(d.metrics))
	}
	if !f.everywhere {
		return
	}
	expect("the metrics", strings.Contains(metrics, fmt.Sprintf("hourbell_finding{name=%q,severity=%q} 1\n", f.check, f.level)))
	_, page := d.get("/")
	expect("the overview page", f.found.MatchString(html.UnescapeString(page)))
	_, list := d.get("/api/v1/findings")
	var answer struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(list), &answer); err != nil {
		d.t.Fatalf("the API answers %s", list)
	}
	listed := false
	for _, one := range answer.Items {
		listed = listed || one["check"] == f.check && one["result"] == f.level && f.found.MatchString(fmt.Sprint(one["found"]))
	}
	expect("the API", listed)
}
