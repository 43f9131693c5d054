package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
)

// Toil is a short job of a node of the role "crowd".
type Toil struct{}

func (Toil) Kind() string { return "toil" }

// Drudgery is a Toil of a kind that has a limit.
type Drudgery struct{}

func (Drudgery) Kind() string { return "drudgery" }

// toilTime is how long a Toil takes besides what the store takes.
const toilTime = 5 * time.Millisecond

// crowdQueues are the queues of the crowd: one has a limit of the whole queue, one a limit by key, one a limit of a kind.
var crowdQueues = []string{"free", "whole", "keyed", "kinds"}

// playCrowd is a node that runs short jobs of all queues, and records what it does and how it fares.
func playCrowd(a *actor) error {
	ran := func(ctx context.Context) error {
		if err := work(ctx, toilTime); err != nil {
			return err
		}
		return a.note("ran", 1)
	}
	hourbell.Register(a.workers, func(ctx context.Context, _ *hourbell.Job[Toil]) error { return ran(ctx) })
	hourbell.Register(a.workers, func(ctx context.Context, _ *hourbell.Job[Drudgery]) error { return ran(ctx) })
	queues := map[string]int{}
	for _, name := range crowdQueues {
		queues[name] = 10
	}
	return a.serve(hourbell.Config{
		Queues: queues, Observers: []event.Observer{crowdObserver{a}},
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

// note adds a line to the witness: what happened, when, and a number.
func (a *actor) note(what string, n int64) error {
	return a.say("%s %d %d", what, time.Now().UnixMilli(), n)
}

// crowdObserver notes the heartbeats of a node, its lost leases, and the jobs that it handed back.
type crowdObserver struct{ a *actor }

// Observe implements event.Observer.
func (o crowdObserver) Observe(e event.Event) {
	switch e.Kind {
	case event.NodeStarted:
		_ = o.a.note("started", 1)
	case event.LeaseLost:
		_ = o.a.note("lost", 1)
	case event.JobReleased, event.ClaimLost, event.JobRescued:
		_ = o.a.note("back", 1)
	}
}

// ObserveCall implements event.CallObserver.
func (o crowdObserver) ObserveCall(c event.Call) {
	if c.Operation != "heartbeat" {
		return
	}
	if c.Err != nil {
		_ = o.a.note("failed", c.Took.Milliseconds())
		return
	}
	_ = o.a.note("beat", c.Took.Milliseconds())
}

// crowd is a store that always has many live jobs under limits.
type crowd struct {
	*site
	lease time.Duration
}

func newCrowd(t *testing.T, at string, lease time.Duration) *crowd {
	t.Helper()
	c := &crowd{newSite(t, at), lease}
	for _, limit := range []hourbell.Limit{
		{Name: "whole", Queue: "whole", Concurrency: 8},
		{Name: "keyed", Queue: "keyed", ByKey: true, Concurrency: 1},
		{Name: "kinds", Kind: Drudgery{}.Kind(), Concurrency: 8},
	} {
		if _, err := c.client.Limits.Put(t.Context(), limit, 0); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// fill enqueues jobs until there are live live jobs, as many in each queue.
func (c *crowd) fill(ctx context.Context, live int) error {
	counts, err := c.client.Queues.List(ctx)
	if err != nil {
		return err
	}
	have := map[string]int64{}
	for _, q := range counts {
		have[q.Name] = q.Ready + q.Running + q.Scheduled + q.Waiting
	}
	var requests []hourbell.Request
	for _, queue := range crowdQueues {
		for n := have[queue]; n < int64(live/len(crowdQueues)); n++ {
			request := hourbell.Request{Args: Toil{}, Options: []hourbell.Option{hourbell.Queue(queue), hourbell.Group("group" + strconv.Itoa(int(n%5)))}}
			switch queue {
			case "keyed":
				request.Options = append(request.Options, hourbell.Key("key"+strconv.Itoa(int(n%40))))
			case "kinds":
				request.Args = Drudgery{}
			}
			requests = append(requests, request)
		}
	}
	if len(requests) == 0 {
		return nil
	}
	_, err = c.client.EnqueueMany(ctx, requests)
	return err
}

// keepFull fills the store until ctx ends.
func (c *crowd) keepFull(ctx context.Context, live int) {
	for ctx.Err() == nil {
		if err := c.fill(ctx, live); err != nil && ctx.Err() == nil {
			c.t.Logf("fill the store: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// pauses pauses and resumes a queue, a kind and a group, in turn, until ctx ends, and returns how long each pause took to answer.
func (c *crowd) pauses(ctx context.Context) (took []time.Duration) {
	each := []struct {
		pause  func(ctx context.Context, name string, pause hourbell.Pause) error
		resume func(ctx context.Context, name string) (bool, error)
		name   string
	}{
		{c.client.Queues.Pause, c.client.Queues.Resume, "free"},
		{c.client.Kinds.Pause, c.client.Kinds.Resume, Drudgery{}.Kind()},
		{c.client.Groups.Pause, c.client.Groups.Resume, "group1"},
	}
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return took
		case <-time.After(2 * time.Second):
		}
		of := each[n%len(each)]
		began := time.Now()
		err := of.pause(ctx, of.name, hourbell.Pause{})
		took = append(took, time.Since(began))
		if err == nil {
			_, err = of.resume(ctx, of.name)
		}
		if err != nil && ctx.Err() == nil {
			c.t.Logf("pause and resume %q: %v after %v", of.name, err, time.Since(began))
		}
	}
}

// fare is how a crowd of nodes fared for some time.
type fare struct {
	perMinute, lost, back, failed int
	beat, pause                   time.Duration // the longest
}

func (f fare) String() string {
	return fmt.Sprintf("%d runs a minute; %d leases lost, %d jobs handed back, %d heartbeats failed, the longest %v; the longest pause %v",
		f.perMinute, f.lost, f.back, f.failed, f.beat, f.pause.Round(time.Millisecond))
}

// observe lets the nodes of a store work for some time.
func (c *crowd) observe(long time.Duration) (f fare) {
	c.t.Helper()
	from := time.Now()
	ctx, stop := context.WithTimeout(c.t.Context(), long)
	defer stop()
	took := c.pauses(ctx)
	to := time.Now()
	if len(took) > 0 {
		f.pause = slices.Max(took)
	}
	n := 0
	for what, number := range c.noted(from, to) {
		switch what {
		case "ran":
			n++
		case "lost":
			f.lost++
		case "back":
			f.back++
		case "failed":
			f.failed++
			f.beat = max(f.beat, time.Duration(number)*time.Millisecond)
		case "beat":
			f.beat = max(f.beat, time.Duration(number)*time.Millisecond)
		}
	}
	f.perMinute = int(float64(n) / to.Sub(from).Minutes())
	return f
}

// noted passes the lines of the witness from one instant to another.
func (c *crowd) noted(from, to time.Time) func(func(what string, number int64) bool) {
	return func(yield func(string, int64) bool) {
		for _, line := range c.witness.lines() {
			if len(line) != 3 {
				continue // the last line may be incomplete
			}
			at, _ := strconv.ParseInt(line[1], 10, 64)
			number, _ := strconv.ParseInt(line[2], 10, 64)
			if at >= from.UnixMilli() && at < to.UnixMilli() && !yield(line[0], number) {
				return
			}
		}
	}
}

// nodes starts n nodes, and waits until they work.
func (c *crowd) nodes(n int) {
	c.t.Helper()
	from := time.Now()
	for range n {
		act(c.t, "crowd", c.at, c.witness, "HOURBELL_PROOF_LEASE="+c.lease.String())
	}
	until(c.t, time.Minute, "the nodes to start", func() bool {
		started := 0
		for what := range c.noted(from, time.Now()) {
			if what == "started" {
				started++
			}
		}
		return started == n
	})
}

// stressed runs the command of HOURBELL_PROOF_STRESS, such as "stress -c 8", until the test ends.
func stressed(t *testing.T) {
	t.Helper()
	words := strings.Fields(os.Getenv("HOURBELL_PROOF_STRESS"))
	if len(words) == 0 {
		return
	}
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // also its children
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestFourNodesAreAsFastAsOne (P5): with limits by queue, kind and key, thousands of live jobs and pauses in between, four nodes run
// about as many jobs as a single node, no node loses its lease, and a pause answers soon. The bounds are meant for a busy machine, with
// HOURBELL_PROOF_STRESS="stress -c 8" and HOURBELL_PROOF_CROWD=40.
func TestFourNodesAreAsFastAsOne(t *testing.T) {
	const live = 2800
	long := time.Duration(number(t, "HOURBELL_PROOF_CROWD", 0)) * time.Second
	if long == 0 {
		t.Skip("it measures rates: set HOURBELL_PROOF_CROWD to a number of seconds")
	}
	for _, kind := range allStores {
		for _, lease := range []time.Duration{2 * time.Second, 15 * time.Second} {
			if !chosen(kind, allStores) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", kind, lease), func(t *testing.T) {
				c := newCrowd(t, freshStore(t, kind), lease)
				if err := c.fill(t.Context(), live); err != nil {
					t.Fatal(err)
				}
				stressed(t)
				ctx, stop := context.WithCancel(t.Context())
				filled := make(chan struct{})
				go func() { c.keepFull(ctx, live); close(filled) }()
				defer func() { stop(); <-filled }()
				c.nodes(1)
				one := c.observe(long)
				t.Logf("one node: %v", one)
				c.nodes(3)
				four := c.observe(long)
				t.Logf("four nodes: %v", four)
				t.Logf("ratio %.2f", float64(four.perMinute)/float64(one.perMinute))
				if float64(four.perMinute) < 0.7*float64(one.perMinute) {
					t.Errorf("four nodes ran %d jobs a minute, one node %d", four.perMinute, one.perMinute)
				}
				if lost := one.lost + four.lost; lost > 0 {
					t.Errorf("%d leases were lost", lost)
				}
				if slowest := max(one.pause, four.pause); slowest > 2*time.Second {
					t.Errorf("a pause answered after %v", slowest)
				}
			})
		}
	}
}
