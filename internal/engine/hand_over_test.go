package engine

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

var errNotReplaced = errors.New("the program was not replaced")

// carried is a worker whose runs go on outside of it: they end when end is closed.
type carried struct {
	end    chan struct{}
	begun  atomic.Int32
	goneOn atomic.Int32
}

func (c *carried) work(ctx context.Context, run *work.Run) error {
	attempt := handover.Of(ctx)
	if attempt.Left == nil {
		c.begun.Add(1)
		_, _ = run.Printer().Write([]byte("begun\n"))
	} else {
		c.goneOn.Add(1)
		_, _ = run.Printer().Write([]byte("gone on after " + string(attempt.Left.State) + "\n"))
	}
	select {
	case <-c.end:
		return nil
	case <-attempt.Asked:
		return &handover.LeftError{Left: &handover.Left{State: json.RawMessage(`"left"`), Descriptors: []int{int(run.ID)}}}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// carrying makes the runs of a node's worker such that they can be handed over.
func carrying(cfg *Config) { cfg.Carried = cfg.Kinds }

// through returns a state as the next program reads it.
func through(t *testing.T, s State) *State {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read State
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return &read
}

// handedOver hands a node over, and leaves its engine at rest until the test ends.
func handedOver(t *testing.T, n *testNode) *State {
	t.Helper()
	states, rest := make(chan State, 1), make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		failed <- n.engine.HandOver(context.Background(), func(s State) error {
			states <- s
			<-rest
			return errNotReplaced
		})
	}()
	t.Cleanup(func() { close(rest) }) // before the node is stopped
	select {
	case s := <-states:
		return through(t, s)
	case err := <-failed:
		t.Fatal(err)
		return nil
	}
}

func attempts(t *testing.T, backend store.Backend, id int64) []store.Attempt {
	t.Helper()
	jobs, err := backend.ListJobs(context.Background(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1, Attempts: true})
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	return jobs[0].Attempts
}

// TestHandOver hands a node with running jobs over to another engine: same number, same claims, one
// outcome each, with the whole output.
func TestHandOver(t *testing.T) {
	backend := memory.New()
	c := &carried{end: make(chan struct{})}
	old := startNode(t, backend, c.work, carrying)
	ids := insert(t, backend, 6) // more than workers: some have not begun
	waitUntil(t, "the jobs run", func() bool { return c.begun.Load() == 4 })
	state := handedOver(t, old)
	if state.Format != handover.Format || len(state.Runs) != 4 || len(state.Descriptors()) != 4 {
		t.Fatalf("state %+v", state)
	}
	next := startNode(t, backend, c.work, carrying, func(cfg *Config) { cfg.TakeOver, cfg.Version = state, "next" })
	waitUntil(t, "the runs go on", func() bool { return c.goneOn.Load() == 4 })
	if n := next.engine.node.Number(); n != old.engine.node.Number() {
		t.Errorf("node %d goes on as node %d", old.engine.node.Number(), n)
	}
	nodes, err := store.List[store.NodeInfo](t.Context(), backend, store.ListRequest{})
	if err != nil || len(nodes) != 1 || nodes[0].Version != "next" || nodes[0].Running != 4 {
		t.Errorf("nodes %+v, %v", nodes, err)
	}
	time.Sleep(testLease) // on heartbeats of the next engine only
	if started := next.count(event.JobStarted); started != 0 {
		t.Errorf("%d jobs were started besides the workers' four", started)
	}
	close(c.end)
	waitUntil(t, "completed", finished(t, backend, store.StateCompleted, ids...))
	for _, run := range state.Runs {
		all := attempts(t, backend, run.Job.ID)
		if len(all) != 1 || string(all[0].Output) != "begun\ngone on after \"left\"\n" || all[0].Token != run.Job.Token {
			t.Errorf("attempts of job %d: %+v", run.Job.ID, all)
		}
	}
	if next.count(event.NodeStarted) != 1 || next.count(event.LeaseLost)+next.count(event.ClaimLost) != 0 {
		t.Errorf("started %d, leases lost %d, claims lost %d", next.count(event.NodeStarted), next.count(event.LeaseLost), next.count(event.ClaimLost))
	}
}

// TestHandOverFails checks that a node goes on as before if its program is not replaced.
func TestHandOverFails(t *testing.T) {
	backend := memory.New()
	c := &carried{end: make(chan struct{})}
	n := startNode(t, backend, c.work, carrying)
	ids := insert(t, backend, 3)
	waitUntil(t, "the jobs run", func() bool { return c.begun.Load() == 3 })
	for i := range int32(3) {
		if err := n.engine.HandOver(t.Context(), func(State) error { return errNotReplaced }); !errors.Is(err, errNotReplaced) {
			t.Fatal(err)
		}
		waitUntil(t, "the runs go on", func() bool { return c.goneOn.Load() == 3*(i+1) })
	}
	more := insert(t, backend, 1)
	waitUntil(t, "claims go on", func() bool { return c.begun.Load() == 4 })
	time.Sleep(testLease)
	close(c.end)
	waitUntil(t, "completed", finished(t, backend, store.StateCompleted, append(ids, more...)...))
	if n.count(event.JobStarted) != 4 || n.count(event.LeaseLost) != 0 {
		t.Errorf("%d jobs started, %d leases lost", n.count(event.JobStarted), n.count(event.LeaseLost))
	}
}

// TestHandOverWaitsForOtherJobs checks that jobs that cannot be handed over get Drain to end, that
// other jobs are claimed until then, and that the hand-over is given up if they do not end.
func TestHandOverWaitsForOtherJobs(t *testing.T) {
	backend := memory.New()
	c := &carried{end: make(chan struct{})}
	other := make(chan struct{})
	n := startNode(t, backend, func(ctx context.Context, run *work.Run) error {
		if run.Kind == "k" {
			return c.work(ctx, run)
		}
		<-other
		return nil
	}, carrying, func(cfg *Config) { cfg.Kinds, cfg.Drain = []string{"k", "other"}, 200*time.Millisecond })
	kind := func(j *store.NewJob) { j.Kind = "other" }
	running := insert(t, backend, 1, kind)
	waitUntil(t, "it runs", func() bool { return n.count(event.JobStarted) == 1 })

	err := n.engine.HandOver(t.Context(), func(State) error { return errNotReplaced })
	if errors.Is(err, errNotReplaced) || err == nil || !strings.Contains(err.Error(), "of the kind other") {
		t.Fatalf("handed over with %v", err)
	}
	replaced := make(chan error, 1)
	later := startNode(t, backend, c.work, func(cfg *Config) { cfg.Kinds, cfg.Queues = nil, nil }) // only so that the store has another node
	defer later.stop()
	go func() {
		for { // until the other job ends in time
			err := n.engine.HandOver(context.Background(), func(State) error { return errNotReplaced })
			if errors.Is(err, errNotReplaced) {
				replaced <- err
				return
			}
		}
	}()
	insert(t, backend, 1)
	waitUntil(t, "a job that can be handed over begins", func() bool { return c.begun.Load() == 1 })
	close(other)
	waitUntil(t, "the other job ends", finished(t, backend, store.StateCompleted, running...))
	if err := <-replaced; !errors.Is(err, errNotReplaced) {
		t.Error(err)
	}
	close(c.end)
	again := insert(t, backend, 1, kind)
	waitUntil(t, "other jobs are claimed again", finished(t, backend, store.StateCompleted, again...))
}

// TestHandOverAfterTheLease checks that runs whose node was declared dead during the hand-over end,
// and that the node registers again.
func TestHandOverAfterTheLease(t *testing.T) {
	backend := memory.New()
	c := &carried{end: make(chan struct{})}
	defer close(c.end)
	var lost atomic.Int32
	attend := func(ctx context.Context, run *work.Run) error {
		err := c.work(ctx, run)
		if errors.Is(err, node.ErrClaimLost) {
			lost.Add(1)
		}
		return err
	}
	old := startNode(t, backend, attend, carrying)
	insert(t, backend, 1)
	waitUntil(t, "it runs", func() bool { return c.begun.Load() == 1 })
	rescuer := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	state := handedOver(t, old)
	waitUntil(t, "the job is rescued", func() bool { return rescuer.count(event.JobRescued) == 1 })
	next := startNode(t, backend, attend, carrying, func(cfg *Config) { cfg.TakeOver = state })
	waitUntil(t, "the run is ended", func() bool { return lost.Load() == 1 })
	if next.engine.node.Number() == state.Node.Number {
		t.Errorf("the node goes on as node %d, which was declared dead", state.Node.Number)
	}
}

// TestHandOverOfAStoppedNode checks that a node that does not run is not handed over.
func TestHandOverOfAStoppedNode(t *testing.T) {
	n := startNode(t, memory.New(), func(context.Context, *work.Run) error { return nil }, carrying)
	n.stop()
	if err := n.engine.HandOver(t.Context(), func(State) error { return nil }); !errors.Is(err, errEnded) {
		t.Error(err)
	}
}

// TestStateFormat keeps the fields of a hand-over: a field that is missing here, renamed or changed is
// misread by other releases with the same handover.Format. A new field may be added, if a release
// without it works.
func TestStateFormat(t *testing.T) {
	if handover.Format != 1 {
		t.Error("write the fields of the new format below")
	}
	want := `format name version node.number node.trusted_until node.steady_since node.steady node.last_beat node.last_store ` +
		`node.seen.Store node.seen.Token node.seen.Node node.seen.Accepted node.seen.LostAt node.last_heartbeat ` +
		`runs.job.Kind runs.job.Queue runs.job.Args runs.job.Headers runs.job.Priority runs.job.MaxAttempts runs.job.OnLoss runs.job.Timeout ` +
		`runs.job.Group runs.job.Unique runs.job.Batch runs.job.ID runs.job.Token runs.job.Attempt runs.job.Origin runs.job.RunAt runs.job.CreatedAt ` +
		`runs.job.Schedule runs.job.ScheduleName runs.job.Slot runs.job.Losses runs.job.Refunds ` +
		`runs.batch runs.started runs.cancelled runs.output runs.printed runs.saved runs.sent runs.result runs.progress ` +
		`runs.left.state runs.left.descriptors ended`
	got := map[string]bool{}
	fields(reflect.TypeFor[State](), "", got)
	for _, name := range strings.Fields(want) {
		if !got[name] {
			t.Errorf("the field %s is missing: a change of it needs another handover.Format", name)
		}
	}
}

// fields adds the names of the fields of a type in JSON.
func fields(of reflect.Type, before string, to map[string]bool) {
	for of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
		to[strings.TrimSuffix(before, ".")] = true
		return
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			fields(field.Type, before, to)
		case name == "":
			fields(field.Type, before+field.Name+".", to)
		default:
			fields(field.Type, before+name+".", to)
		}
	}
}
