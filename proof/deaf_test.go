package proof

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// playDeaf is a node whose jobs ignore their contexts. When its stop has ended, the process goes on until its workers have
// returned.
func playDeaf(a *actor) error {
	say := func(what string, token int64) error {
		return a.say("%s %d %d %d", what, os.Getpid(), token, time.Now().UnixMicro())
	}
	hourbell.Register(a.workers, func(_ context.Context, job *hourbell.Job[Shift]) error {
		if err := say("began", job.Token); err != nil {
			return err
		}
		time.Sleep(job.Args.For)
		return say("ended", job.Token)
	})
	client, err := hourbell.New(a.backend, hourbell.Config{
		Workers: a.workers, Lease: a.lease, Drain: 200 * time.Millisecond, Grace: 300 * time.Millisecond,
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		return err
	}
	if err := client.Run(a.ctx); err != nil {
		return err
	}
	if err := say("stopped", 0); err != nil {
		return err
	}
	<-client.Done()
	return nil
}

const (
	// deafTime is how long the jobs of deaf nodes take: longer than the lease deafLease.
	deafTime  = 6 * time.Second
	deafLease = "2s"
)

// stoppedNode enqueues n jobs, and stops the first of two deaf nodes, which runs one of them, until its stop has ended: while
// its worker runs.
func (v *village) stoppedNode(n int) *process {
	v.t.Helper()
	v.addShifts(n, Shift{For: deafTime}, hourbell.Key("k"))
	node := func() *process { return act(v.t, "deaf", v.at, v.witness, "HOURBELL_PROOF_LEASE="+deafLease) }
	first := node()
	until(v.t, time.Minute, "the first job begins", func() bool { return len(v.shifts()) == 1 })
	second := node()
	until(v.t, time.Minute, "the second node", func() bool { return second.logged("node started") == 1 })
	first.signal(syscall.SIGTERM)
	until(v.t, time.Minute, "the stop", func() bool {
		return slices.ContainsFunc(v.witness.lines(), func(line []string) bool { return line[0] == "stopped" })
	})
	if v.shifts()[0].ended != 0 {
		v.t.Fatal("the worker has returned before the stop has ended")
	}
	return first
}

// secondEnds waits until a second attempt has ended.
func (v *village) secondEnds() (first, second shift) {
	v.t.Helper()
	until(v.t, time.Minute, "the second attempt ends", func() bool {
		all := v.shifts()
		return len(all) == 2 && all[1].ended != 0
	})
	all := v.shifts()
	return all[0], all[1]
}

// TestAForcedStopKeepsWhatStillRuns (P4): of two jobs under a limit of 1, whose workers ignore their contexts for longer than a
// lease, the node of the first is stopped. The stop ends long before the worker, and the second job begins on another node
// when the worker has returned.
func TestAForcedStopKeepsWhatStillRuns(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]hourbell.Limit{
		"queue": {Name: "l", Queue: "default", Concurrency: 1},
		"kind":  {Name: "l", Kind: Shift{}.Kind(), Concurrency: 1},
		"key":   {Name: "l", ByKey: true, Concurrency: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachStore(t, allStores, func(t *testing.T, at string) {
				v := &village{newSite(t, at)}
				if _, err := v.client.Limits.Put(t.Context(), limit, 0); err != nil {
					t.Fatal(err)
				}
				process := v.stoppedNode(2)
				first, second := v.secondEnds()
				if first.ended == 0 || second.began < first.ended {
					t.Errorf("the second job began while the worker of the first job ran: %+v, %+v", first, second)
				}
				<-process.done
				if jobs := list[jobRow](t, v.at, "jobs", "list", "--state", "completed"); len(jobs) != 2 || jobs[0].Attempt != 1 || jobs[1].Attempt != 1 {
					t.Errorf("completed: %+v", jobs)
				}
			})
		})
	}
}

// TestAProcessIsKilledAfterAForcedStop (P4): the process of a node that was stopped is killed while its worker runs. The job
// runs again on another node.
func TestAProcessIsKilledAfterAForcedStop(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
		v := &village{newSite(t, at)}
		process := v.stoppedNode(1)
		killed := time.Now().UnixMicro()
		process.kill()
		if _, second := v.secondEnds(); second.began < killed {
			t.Errorf("the job began elsewhere before its process was killed: %+v, killed at %d", second, killed)
		}
	})
}
