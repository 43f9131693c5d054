package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// waitingVariable is how many jobs wait in TestPlansAtSize; all else is in
// proportion. 10,000,000 is the size that its bounds are meant for; it takes
// a minute or two and 6 GB on the server's disk.
const waitingVariable = "HOURBELL_PLANTEST_JOBS"

// sizes are how much there is of what may not slow a claim down.
type sizes struct{ waiting, later, finished, dead, running, retried, schedules int }

func readSizes(t *testing.T) sizes {
	t.Helper()
	waiting := 200_000
	if text := os.Getenv(waitingVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 200*planBatch {
			t.Fatalf("%s=%s: give a whole number from %d on", waitingVariable, text, 200*planBatch)
		}
		waiting = n
	}
	return sizes{
		waiting: waiting, later: waiting / 10, finished: waiting / 10, dead: waiting * 3 / 100,
		running: waiting / 200, retried: waiting / 200, schedules: waiting / 100,
	}
}

const (
	planBatch = 1000 // jobs that are claimed and finished at once
	planDue   = 500  // schedules that are read at once
)

// bounds are the pages, in memory or read, that one thing may touch at most. They
// are what was measured with 10 million jobs, and a fifth. A page that is touched
// again counts again, unless it was the last one of its scan.
var bounds = map[string]float64{
	"claim, a job": 6.3, "claim of four priorities, a job": 6.4, "claim of scattered jobs, a job": 7.3, "claim where all are for later, a call": 100,
	"finish, a job": 10.5, "retry, a job": 38, "rescue, a job": 40, "read due schedules, each": 2.4,
}

// TestPlansAtSize counts the pages that the statements of a node touch, first
// where jobs only wait, then among others that are scheduled for later, finished,
// dead but not yet removed, running, or waiting for their next attempt. It reads
// the plans that the server really used (auto_explain), in the transactions of
// the backend itself. What a claim costs may not grow with any of that.
//
// Claims are measured with their cursors. A full scan, which reads dead entries and
// running jobs, is bounded in time instead: see cursors.go.
func TestPlansAtSize(t *testing.T) {
	n := readSizes(t)
	p := newCrowd(t)
	p.addWaiting(n)
	alone := p.measure("alone")

	p.addOthers(n)
	crowded := p.measure("among others, never analysed")
	execute(t, withSchema("analyze {schema}.job; analyze {schema}.history; analyze {schema}.schedule; analyze {schema}.lease", p.b.schema))
	analysed := p.measure("among others, analysed")

	for name, before := range alone {
		after := max(crowded[name], analysed[name])
		claim := strings.HasPrefix(name, "claim") && strings.HasSuffix(name, "a job")
		if claim && after > 1.2*before {
			t.Errorf("%s: %.2f pages where jobs only wait, %.2f among others", name, before, after)
		}
	}
}

// TestPausedJobsAreOutOfTheWay counts the pages of claims, with their cursors, in a queue where
// 100,000 jobs of a paused group are due before the other jobs, and more come.
func TestPausedJobsAreOutOfTheWay(t *testing.T) {
	p := newCrowd(t)
	const paused, added = 100_000, 2_000
	insertPaused := func(n int) {
		p.insert("'q', 1, clock_timestamp() - interval '1 hour' + i * interval '1 millisecond'", n)
		execute(t, withSchema("update {schema}.job set group_name = 'g' where group_name is null and priority = 1", p.b.schema))
	}
	p.insert("'q', 5, clock_timestamp() - interval '1 hour' + i * interval '1 millisecond'", 12*planBatch)
	insertPaused(paused)
	execute(t, withSchema("vacuum analyze {schema}.job", p.b.schema))
	putPause(t, p.b, store.PutPause{Name: "g"})
	claim := func(what string) float64 {
		t.Helper()
		var jobs []store.Claimed
		plans := p.during(func() { jobs = p.claim("q") })
		if len(jobs) != planBatch || jobs[0].Priority != 5 {
			t.Fatalf("%s: %d jobs", what, len(jobs))
		}
		pages := float64(plans.pages()) / planBatch
		t.Logf("%s: %.2f pages a job (%s)", what, pages, p.spent(plans))
		return pages
	}
	claim("the first claim, which is a full scan")
	claim("a claim that passes the gates, as one does in each parkRest")
	most := 1.2 * bounds["claim, a job"]
	// The less of two claims, because the other one passes the gates if parkRest has gone by.
	less := func(what string) float64 { return min(claim(what), claim(what)) }
	if pages := less("a claim in the pause"); pages > most {
		t.Errorf("a claim in the pause touches %.2f pages a job, at most %.2f are allowed", pages, most)
	}
	insertPaused(added)
	for range 4 { // every other of them passes the gates, and parks up to pauseStep jobs in each step
		time.Sleep(parkRest)
		claim("a claim that parks")
	}
	if pages := less("a claim after more jobs came"); pages > most {
		t.Errorf("a claim touches %.2f pages a job after jobs came in the pause, at most %.2f are allowed", pages, most)
	}
	err := p.b.Delete(t.Context(), store.DeleteRequest{Of: store.OfPauses, Names: []string{"g"}})
	must(t, err)
	var left int
	must(t, p.b.pool.QueryRow(t.Context(), withSchema("select count(*) from {schema}.job where state = -1", p.b.schema)).Scan(&left))
	if left > 0 {
		t.Errorf("%d jobs are parked after the pause", left)
	}
}

// TestJobsOfPausedKindsAreOutOfTheWay counts the pages of claims, with their cursors, in a queue where
// 100,000 jobs of a paused kind are due before the other jobs, and more come. These jobs are not
// parked: each node passes them once. A claim of a paused queue touches a few pages, whatever the
// queue has.
func TestJobsOfPausedKindsAreOutOfTheWay(t *testing.T) {
	p := newCrowd(t)
	const paused, added = 100_000, 2_000
	insertPaused := func(n int) {
		p.insert("'q', 1, clock_timestamp() - interval '1 hour' + i * interval '1 millisecond'", n)
		execute(t, withSchema("update {schema}.job set kind = 'paused' where kind <> 'paused' and priority = 1", p.b.schema))
	}
	p.insert("'q', 5, clock_timestamp() - interval '1 hour' + i * interval '1 millisecond'", 12*planBatch)
	insertPaused(paused)
	execute(t, withSchema("vacuum analyze {schema}.job", p.b.schema))
	kind := store.PutPause{Subject: store.SubjectKind, Name: "paused"}
	putPause(t, p.b, kind)
	claim := func(what string) float64 {
		t.Helper()
		var jobs []store.Claimed
		plans := p.during(func() { jobs = p.claimKinds("q", "k", "paused") })
		if len(jobs) != planBatch || jobs[0].Priority != 5 {
			t.Fatalf("%s: %d jobs", what, len(jobs))
		}
		pages := float64(plans.pages()) / planBatch
		t.Logf("%s: %.2f pages a job (%s)", what, pages, p.spent(plans))
		return pages
	}
	claim("the first claim, which is a full scan")
	claim("a claim that passes the gates, as one does in each parkRest")
	most := 1.2 * bounds["claim, a job"]
	// The less of two claims, because the other one passes the gates if parkRest has gone by.
	less := func(what string) float64 { return min(claim(what), claim(what)) }
	if pages := less("a claim in the pause"); pages > most {
		t.Errorf("a claim in the pause touches %.2f pages a job, at most %.2f are allowed", pages, most)
	}
	insertPaused(added)
	if pages := less("a claim after more jobs came"); pages > most {
		t.Errorf("a claim touches %.2f pages a job after jobs came in the pause, at most %.2f are allowed", pages, most)
	}
	putPause(t, p.b, store.PutPause{Subject: store.SubjectQueue, Name: "q"})
	ofPausedQueue := func() int {
		plans := p.during(func() {
			if jobs := p.claimKinds("q", "k", "paused"); len(jobs) != 0 {
				t.Errorf("%d jobs of a paused queue", len(jobs))
			}
		})
		t.Logf("a claim of a paused queue touches %d pages (%s)", plans.pages(), p.spent(plans))
		return plans.pages()
	}
	if pages := min(ofPausedQueue(), ofPausedQueue()); pages > 20 {
		t.Errorf("a claim of a paused queue touches %d pages, at most 20 are allowed", pages)
	}
}

// TestJobsThatWaitInALaneAreOutOfTheWay counts the pages of claims of jobs whose keys are limited, first alone, then while a tenth of
// the jobs of TestPlansAtSize wait in the lane of another key.
func TestJobsThatWaitInALaneAreOutOfTheWay(t *testing.T) {
	p := newCrowd(t)
	_, err := p.b.Put(t.Context(), store.PutRequest{Limits: []store.PutLimit{{Limit: store.Limit{Name: "l", ByKey: true, Concurrency: 1}}}})
	must(t, err)
	p.insert("'q', 5, clock_timestamp() - interval '1 hour' + i * interval '1 millisecond'", 6*planBatch)
	execute(t, withSchema("update {schema}.job set job_key = 'key ' || id; analyze {schema}.job", p.b.schema))
	claim := func(what string) float64 {
		t.Helper()
		var jobs []store.Claimed
		plans := p.during(func() { jobs = p.claim("q") })
		if len(jobs) != planBatch {
			t.Fatalf("%s: %d jobs", what, len(jobs))
		}
		pages := float64(plans.pages()) / planBatch
		t.Logf("%s: %.2f pages a job (%s)", what, pages, p.spent(plans))
		return pages
	}
	claim("the first claim, which is a full scan")
	alone := max(claim("a claim without jobs that wait"), claim("another"))
	execute(t, withSchema(fmt.Sprintf(`
		insert into {schema}.lane (limit_id, key, used, waiting) select id, 'busy', 1, true from {schema}.job_limit;
		insert into {schema}.job (created_at, timeout_ns, max_attempts, on_loss, origin, kind, args, queue, priority, run_at, job_key, lane, state)
		select now(), 0, 25, 0, 0, 'k', '{"to":"someone@example.org","subject":"hello"}', 'q', 5, clock_timestamp() - interval '1 day' + i * interval '1 millisecond',
			'busy', l.id, -2 from {schema}.lane as l, generate_series(1, %d) i where l.key = 'busy'`, readSizes(t).waiting/10), p.b.schema))
	for _, what := range []string{"among jobs that wait, never analysed", "among jobs that wait, analysed"} {
		if pages := claim("a claim " + what); pages > 1.2*alone {
			t.Errorf("a claim %s touches %.2f pages a job, and %.2f without them", what, pages, alone)
		}
		execute(t, withSchema("analyze {schema}.job; analyze {schema}.lane", p.b.schema))
	}
}

// crowd is a backend whose plans are read, and the node that works in it.
type crowd struct {
	t     *testing.T
	b     *Backend
	plans *planReader
	node  int64
}

// newCrowd opens it on tables that are quick to fill and that are not vacuumed
// concurrently.
func newCrowd(t *testing.T) *crowd {
	t.Helper()
	requireAutoExplain(t)
	schema := newSchema(t)
	migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
	execute(t, withSchema(`
		alter table {schema}.job set unlogged; alter table {schema}.job set (autovacuum_enabled = off);
		alter table {schema}.history set unlogged; alter table {schema}.history set (autovacuum_enabled = off)`, schema))
	p := &crowd{t: t, plans: &planReader{}}
	p.b = openExplained(t, schema, p.plans)
	p.node = register(t, p.b)
	return p
}

// requireAutoExplain skips the test, or lets it fail, where the server cannot
// report its plans.
func requireAutoExplain(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), urlFrom(t, serverVariable))
	must(t, err)
	defer conn.Close(t.Context())
	if _, err = conn.Exec(t.Context(), "load 'auto_explain'"); err == nil {
		return
	}
	if os.Getenv("HOURBELL_TEST_REQUIRE") == "1" {
		t.Fatalf("HOURBELL_TEST_REQUIRE=1 asks for this test, which needs PostgreSQL's own module auto_explain and a superuser: %v", err)
	}
	t.Skipf("this test needs PostgreSQL's own module auto_explain and a superuser: %v", err)
}

// openExplained opens a backend whose connections report the plan of every
// statement.
func openExplained(t *testing.T, schema string, plans *planReader) *Backend {
	t.Helper()
	config, err := pgxpool.ParseConfig(urlFrom(t, serverVariable))
	must(t, err)
	for name, value := range map[string]string{
		"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0", "auto_explain.log_level": "notice",
		"auto_explain.log_analyze": "on", "auto_explain.log_buffers": "on", "auto_explain.log_timing": "off", "auto_explain.log_format": "json",
	} {
		config.ConnConfig.RuntimeParams[name] = value
	}
	config.ConnConfig.OnNotice = plans.notice
	b, err := open(context.Background(), config, false, []Option{Schema(schema), MaxConns(2)})
	must(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

// addWaiting lets half of the jobs wait in the queue "q", in one priority, and
// half in "mixed", in priority 4, where others are to come before them. A tenth
// more are due in another order than they came. Half of the schedules are due.
func (p *crowd) addWaiting(n sizes) {
	p.t.Helper()
	p.insert("'q', 5, clock_timestamp() - interval '1 day' + i * interval '1 millisecond'", n.waiting/2)
	p.insert("'mixed', 4, clock_timestamp() - interval '1 day' + i * interval '1 millisecond'", n.waiting/2)
	p.insert("'scattered', 5, clock_timestamp() - random() * interval '1 day'", n.waiting/10)
	execute(p.t, withSchema(fmt.Sprintf(`
		insert into {schema}.schedule (revision, anchor, mark, next_at, created_at, updated_at, name, owner, definition)
		select 1, now(), now(), now() + (i - %d) * interval '1 second', now(), now(), 's' || i, '', '{}' from generate_series(1, %d) i`,
		n.schedules/2, n.schedules), p.b.schema))
	p.claim("q") // the first claim of a queue is a full scan
	p.claim("mixed")
	p.claim("scattered")
}

// addOthers adds what claims have to pass by.
func (p *crowd) addOthers(n sizes) {
	p.t.Helper()
	// Those scheduled for later come before what is due, if it is by priority.
	p.insert("'q', 1, clock_timestamp() + interval '1 day' + i * interval '1 millisecond'", n.later/2)
	p.insert("'later', 1 + i % 9, clock_timestamp() + interval '1 day' + i * interval '1 millisecond'", n.later/2)
	execute(p.t, withSchema(fmt.Sprintf(`
		insert into {schema}.history (id, run_at, created_at, finished_at, token, timeout_ns, priority, state, attempt, max_attempts, on_loss, origin, queue, kind, args, reason)
		select -i, now(), now(), now() - i * interval '1 millisecond', 1, 0, 5, 3, 1, 25, 0, 0, 'q', 'k', '{}', '' from generate_series(1, %d) i`, n.finished), p.b.schema))

	conn, err := pgx.Connect(p.t.Context(), urlFrom(p.t, serverVariable))
	must(p.t, err)
	p.t.Cleanup(func() { conn.Close(context.Background()) })
	_, err = conn.Exec(p.t.Context(), "begin isolation level repeatable read; select count(*) from pg_class")
	must(p.t, err)
	for range n.dead / planBatch {
		finishAll(p.t, p.b, p.claim("q"), planBatch)
	}
	for range n.running / planBatch {
		p.claim("q")
	}
	for range n.retried / planBatch {
		p.retry(p.claim("q"))
	}
}

// insert stores jobs of a queue, a priority and a run_at, which may depend on i,
// the number of the job.
func (p *crowd) insert(columns string, n int) {
	p.t.Helper()
	execute(p.t, withSchema(fmt.Sprintf(`
		insert into {schema}.job (created_at, timeout_ns, max_attempts, on_loss, origin, kind, args, queue, priority, run_at)
		select now(), 0, 25, 0, 0, 'k', '{"to":"someone@example.org","subject":"hello"}', %s from generate_series(1, %d) i`, columns, n), p.b.schema))
}

// claim claims a batch, with cursors unless this is the first claim of the queue.
func (p *crowd) claim(queue string) []store.Claimed { return p.claimKinds(queue, "k") }

// claimKinds is claim for some kinds.
func (p *crowd) claimKinds(queue string, kinds ...string) []store.Claimed {
	p.t.Helper()
	res, err := p.b.Claim(p.t.Context(), store.ClaimRequest{Part: true, Node: p.node, Queue: queue, Kinds: kinds, Limit: planBatch})
	must(p.t, err)
	scan := p.b.scans.of(p.node, queue, false)
	for range scan.costs { // so that the next full scan is due in a day
		scan.recordFullScan(0, time.Hour)
	}
	p.b.catchUps.Wait()
	scan.mu.Lock()
	defer scan.mu.Unlock()
	scan.reached(recentScans-1, time.Now().Add(24*time.Hour)) // and the next recent scans too
	return res.Jobs
}

// retry lets claimed jobs fail, to be tried again later.
func (p *crowd) retry(jobs []store.Claimed) {
	p.t.Helper()
	var outcomes []store.Outcome
	for _, job := range jobs {
		outcomes = append(outcomes, store.Outcome{ID: job.ID, Token: job.Token, Result: store.Retry, Delay: time.Hour, Error: "no answer"})
	}
	res, err := p.b.Finish(p.t.Context(), store.FinishRequest{Outcomes: outcomes})
	must(p.t, err)
	if len(res.Refused) > 0 {
		p.t.Fatalf("%d outcomes were refused", len(res.Refused))
	}
}

// measure does what nodes do, and returns the pages that each thing cost.
func (p *crowd) measure(state string) map[string]float64 {
	p.t.Helper()
	costs := map[string]float64{}
	pages := func(name string, of int, do func()) { costs[name] = p.cost(state, name, of, do) }
	var jobs []store.Claimed
	pages("claim, a job", planBatch, func() { jobs = p.claim("q") })
	pages("finish, a job", planBatch, func() { finishAll(p.t, p.b, jobs, planBatch) })
	jobs = p.claim("q")
	pages("retry, a job", planBatch, func() { p.retry(jobs) })
	p.insert("'mixed', 1 + i % 3, clock_timestamp()", 1200)
	pages("claim of four priorities, a job", planBatch, func() { jobs = p.claim("mixed") })
	p.inOrderOfPriority(jobs)
	pages("claim of scattered jobs, a job", planBatch, func() { p.claim("scattered") })
	p.claim("later") // a full scan, the first time
	pages("claim where all are for later, a call", 1, func() { p.claim("later") })
	held := p.lose(state)
	pages("rescue, a job", held, func() { p.rescue(held) })
	pages("read due schedules, each", planDue, p.dueSchedules)
	return costs
}

// cost is how many pages do touches for each of the things it does.
func (p *crowd) cost(state, name string, of int, do func()) float64 {
	p.t.Helper()
	plans := p.during(do)
	pages := float64(plans.pages()) / float64(of)
	p.t.Logf("%s: %s: %.2f pages (%s)", state, name, pages, p.spent(plans))
	if pages > bounds[name] {
		p.t.Errorf("%s: %s: %.2f pages, at most %.2f are allowed\n%s", state, name, pages, bounds[name], plans)
	}
	if sorted := plans.sorted(); sorted > 2*planBatch {
		p.t.Errorf("%s: %s sorts %.0f rows\n%s", state, name, sorted, plans)
	}
	return pages
}

// inOrderOfPriority checks that jobs are the 1,200 of three priorities that were
// added, as far as they go.
func (p *crowd) inOrderOfPriority(jobs []store.Claimed) {
	p.t.Helper()
	if len(jobs) != planBatch || !slices.IsSortedFunc(jobs, store.CompareClaimed) || jobs[0].Priority != 1 || jobs[len(jobs)-1].Priority != 3 {
		p.t.Errorf("claimed %d jobs, of the priorities %d to %d", len(jobs), jobs[0].Priority, jobs[len(jobs)-1].Priority)
	}
}

// lose lets a node claim a batch and fall silent. It returns how many jobs it
// holds.
func (p *crowd) lose(state string) int {
	p.t.Helper()
	res, err := p.b.Register(p.t.Context(), store.RegisterRequest{Name: "lost", Lease: time.Millisecond, Queues: []string{"q"}, Kinds: []string{"k"}})
	must(p.t, err)
	held := 0
	plans := p.during(func() { held = len(claimN(p.t, p.b, res.Node, planBatch)) })
	p.t.Logf("%s: the full scan of a new node: %d pages for %d jobs", state, plans.pages(), held)
	time.Sleep(2 * time.Millisecond)
	return held
}

func (p *crowd) rescue(want int) {
	p.t.Helper()
	res, err := p.b.Rescue(p.t.Context(), store.RescueRequest{Node: p.node})
	must(p.t, err)
	if len(res.Jobs) != want || want != planBatch {
		p.t.Fatalf("rescued %d jobs of %d", len(res.Jobs), want)
	}
}

func (p *crowd) dueSchedules() {
	p.t.Helper()
	res, err := p.b.DueSchedules(p.t.Context(), store.DueSchedulesRequest{Limit: planDue})
	must(p.t, err)
	if len(res.Schedules) != planDue {
		p.t.Fatalf("%d schedules are due", len(res.Schedules))
	}
}

// during returns the plans of what do does.
func (p *crowd) during(do func()) shownPlans {
	p.t.Helper()
	p.plans.take()
	do()
	plans, err := p.plans.take()
	must(p.t, err)
	if len(plans) == 0 {
		p.t.Fatal("the server showed no plan")
	}
	return plans
}

// spent lists how many pages each statement of the plans cost.
func (p *crowd) spent(plans shownPlans) string {
	names := map[string]string{}
	for s, text := range p.b.sql {
		names[text] = statement(s).String()
	}
	var parts []string
	for _, one := range plans {
		parts = append(parts, fmt.Sprintf("%s %d", cmp.Or(names[one.Text], "other"), one.Plan.Hit+one.Plan.Read))
	}
	return strings.Join(parts, ", ")
}

// planReader collects the plans that a server sends as notices.
type planReader struct {
	mu    sync.Mutex
	plans shownPlans
	err   error
}

// take returns what was collected, and forgets it.
func (r *planReader) take() (shownPlans, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	plans, err := r.plans, r.err
	r.plans, r.err = nil, nil
	return plans, err
}

// notice reads a notice of auto_explain: its duration, then the plan.
func (r *planReader) notice(_ *pgconn.PgConn, notice *pgconn.Notice) {
	_, text, found := strings.Cut(notice.Message, "plan:\n")
	if !found {
		return
	}
	one := shownPlan{raw: text}
	err := json.Unmarshal([]byte(text), &one)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plans, r.err = append(r.plans, one), errors.Join(r.err, err)
}

// shownPlans are the plans of some statements.
type shownPlans []shownPlan

type shownPlan struct {
	Text string   `json:"Query Text"`
	Plan planNode `json:"Plan"`
	raw  string
}

// planNode is a part of a plan. Its pages include the pages of its parts.
type planNode struct {
	Type  string  `json:"Node Type"`
	Rows  float64 `json:"Actual Rows"` // in each loop
	Loops float64 `json:"Actual Loops"`
	Hit   int     `json:"Shared Hit Blocks"`
	Read  int     `json:"Shared Read Blocks"`
	// Rows that were read in each loop and left out.
	Filtered float64    `json:"Rows Removed by Filter"`
	Unjoined float64    `json:"Rows Removed by Join Filter"`
	Plans    []planNode `json:"Plans"`
}

// pages are how many were touched, however often each.
func (all shownPlans) pages() (pages int) {
	for _, one := range all {
		pages += one.Plan.Hit + one.Plan.Read
	}
	return pages
}

// visited is how many rows all parts of the plans read.
func (all shownPlans) visited() (rows float64) {
	for _, one := range all {
		rows += one.Plan.visited()
	}
	return rows
}

func (n planNode) visited() float64 {
	rows := (n.Rows + n.Filtered + n.Unjoined) * n.Loops
	for _, part := range n.Plans {
		rows += part.visited()
	}
	return rows
}

// sorted is the largest number of rows that went into a sort.
func (all shownPlans) sorted() (rows float64) {
	for _, one := range all {
		rows = max(rows, one.Plan.sorted())
	}
	return rows
}

func (n planNode) sorted() (rows float64) {
	for _, part := range n.Plans {
		rows = max(rows, part.sorted())
		if strings.Contains(n.Type, "Sort") {
			rows = max(rows, part.Rows*part.Loops)
		}
	}
	return rows
}

// String is the plans as the server sent them.
func (all shownPlans) String() string {
	var out strings.Builder
	for _, one := range all {
		out.WriteString(one.raw + "\n")
	}
	return out.String()
}

// putPause pauses a subject.
func putPause(t *testing.T, b *Backend, put store.PutPause) {
	t.Helper()
	_, err := b.Put(t.Context(), store.PutRequest{Pauses: []store.PutPause{put}})
	must(t, err)
}
