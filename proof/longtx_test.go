package proof

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// lockRow makes the transaction of a report wait for any other transaction of a report.
const (
	makeReports = "CREATE TABLE report (id bigint NOT NULL PRIMARY KEY, runs bigint NOT NULL)"
	firstReport = "INSERT INTO report (id, runs) VALUES (1, 0)"
	lockReport  = "UPDATE report SET runs = runs + 1 WHERE id = 1"
)

// playReporter is a node whose workers have long transactions. An errand is a report: its worker
// computes for Before, writes, computes for After, and sends the statement Order. Attempts after the
// first only write.
func playReporter(a *actor) error {
	a.errands(a.workers, func(ctx context.Context, job *hourbell.Job[Errand], exec func(context.Context, string, ...any) error) error {
		first := job.Attempt == 1
		if first {
			compute(ctx, job.Args.Before)
		}
		if err := exec(ctx, lockReport); err != nil {
			return err
		}
		if err := exec(ctx, postEffect, job.ID, job.Token); err != nil {
			return err
		}
		if err := a.say("%d %d wrote %d", job.ID, job.Token, job.Attempt); err != nil {
			return err
		}
		if !first {
			return nil
		}
		compute(ctx, job.Args.After)
		if job.Args.Order == "" {
			return nil
		}
		return exec(ctx, job.Args.Order)
	})
	return a.serve(hourbell.Config{Queues: map[string]int{"default": 2}})
}

// compute takes a while, but ends with ctx.
func compute(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// reports are a site with nodes that have long transactions.
type reports struct{ *clerks }

func newReports(t *testing.T, at string) reports {
	t.Helper()
	c := newClerks(t, at)
	c.exec(makeReports)
	c.exec(firstReport)
	return reports{c}
}

func (r reports) node() *process { return act(r.t, "reporter", r.at, r.witness) }

// wrote returns how many attempts have written.
func (r reports) wrote() (n int) {
	for _, row := range r.witness.lines() {
		if row[2] == "wrote" {
			n++
		}
	}
	return n
}

// sleepFor is a statement that takes a while.
func sleepFor(kind string, d time.Duration) string {
	if kind == inMySQL {
		return fmt.Sprintf("DO SLEEP(%f)", d.Seconds())
	}
	return fmt.Sprintf("SELECT pg_sleep(%f)", d.Seconds())
}

// TestALongTransactionIsCommitted (P3, P5): a worker's transaction is idle for more than two leases,
// and then a statement takes more than two leases, while another node looks for dead nodes. With
// SQLite, the worker computes before it writes.
func TestALongTransactionIsCommitted(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
		r := newReports(t, at)
		long := 2*lease(t) + time.Second
		work := Errand{After: long, Order: sleepFor(kindOf(at), long)}
		if kindOf(at) == inSQLite {
			work = Errand{Before: 2 * long}
		}
		id := r.enqueue(work)
		first := r.node()
		until(t, 60*time.Second, "the first node", func() bool { return first.logged("node started") == 1 })
		second := r.node()
		until(t, 2*long+60*time.Second, "the job's end", func() bool { return r.live() == 0 })
		first.stop()
		second.stop()
		r.once(id)
		if info, err := r.client.Jobs.Get(t.Context(), id); err != nil || info.Attempt != 1 {
			t.Errorf("%d attempts, want 1 (%v)", info.Attempt, err)
		}
	})
}

// TestANodeIsLostInALongTransaction (P3, P4, P5): a node is killed or stopped when its worker's
// transaction has been open for more than a lease, while the transaction is idle or a statement is
// under way. The job starts elsewhere as after a short transaction, although it needs a row that the
// lost transaction has locked. MariaDB goes on with a statement whose program was killed, so there
// the transaction is idle; it has to be told to end idle transactions.
func TestANodeIsLostInALongTransaction(t *testing.T) {
	t.Parallel()
	onServers(t, servers, func(t *testing.T, kind string) {
		for _, tc := range []struct {
			name      string
			statement bool
			signal    syscall.Signal
		}{
			{"killed while idle", false, syscall.SIGKILL},
			{"killed in a statement", true, syscall.SIGKILL},
			{"stopped while idle", false, syscall.SIGSTOP},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				at := freshStore(t, kind)
				if kind == inMySQL {
					if tc.statement {
						t.Skip("MariaDB does not notice during a statement that its program is gone")
					}
					at = endingIdle(t, at, int(10*lease(t).Seconds()))
				}
				r := newReports(t, at)
				work := Errand{After: time.Hour}
				if tc.statement {
					work = Errand{Order: sleepFor(kind, time.Hour)}
				}
				id := r.enqueue(work)
				lost := r.node()
				until(t, 60*time.Second, "the worker to write", func() bool { return r.wrote() == 1 })
				other := r.node()
				until(t, 60*time.Second, "the other node", func() bool { return other.logged("node started") == 1 })
				time.Sleep(lease(t) + lease(t)/2) // the other node may declare nodes dead
				if info, err := r.client.Jobs.Get(t.Context(), id); err != nil || info.Attempt != 1 {
					t.Fatalf("attempt %d while the first node lives (%v)", info.Attempt, err)
				}
				lost.signal(tc.signal)
				since := time.Now()
				until(t, 3*lease(t)+60*time.Second, "the job to write elsewhere", func() bool { return r.wrote() == 2 })
				t.Logf("with a lease of %v, the job had written elsewhere after %v", lease(t), time.Since(since).Round(time.Millisecond))
				until(t, 60*time.Second, "the job's end", func() bool { return r.live() == 0 })
				lost.signal(syscall.SIGKILL)
				other.stop()
				r.once(id)
			})
		}
	})
}

// TestACancelReachesAWorkerThatHasWritten (P5): in SQLite a cancel waits, as all writers do, until the
// worker's transaction ends, which it must half a lease after its first write.
func TestACancelReachesAWorkerThatHasWritten(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
		r := newReports(t, at)
		id := r.enqueue(Errand{After: time.Hour})
		node := r.node()
		until(t, 60*time.Second, "the worker to write", func() bool { return r.wrote() == 1 })
		began := time.Now()
		if _, err := r.client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{id}}); err != nil {
			t.Fatal(err)
		}
		t.Logf("with a lease of %v, the cancel returned after %v", lease(t), time.Since(began).Round(time.Millisecond))
		until(t, 60*time.Second, "the job's end", func() bool { return r.live() == 0 })
		node.stop()
		info, err := r.client.Jobs.Get(t.Context(), id)
		if err != nil || info.State != store.StateCancelled {
			t.Errorf("the job is %v (%v)", info.State, err)
		}
		if n, err := r.ledger.count(t.Context(), "SELECT count(*) FROM effect"); n != 0 || err != nil {
			t.Errorf("%d effects, %v", n, err)
		}
	})
}
