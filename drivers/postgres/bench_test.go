package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// BenchmarkDrain claims and finishes 100,000 no-op jobs in batches of 1,000 by
// one loop.
func BenchmarkDrain(b *testing.B) { benchDrain(b) }

// BenchmarkDrainUnderSnapshot is BenchmarkDrain while another transaction, such as a backup, keeps a snapshot that is older
// than the jobs, so that the index entries of ended jobs cannot be removed.
func BenchmarkDrainUnderSnapshot(b *testing.B) {
	pool := newPool(b)
	conn, err := pool.Acquire(b.Context())
	must(b, err)
	defer conn.Release()
	_, err = conn.Exec(b.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
	must(b, err)
	benchDrain(b)
	_, err = conn.Exec(b.Context(), "ROLLBACK")
	must(b, err)
}

func benchDrain(b *testing.B) {
	const jobs, batch = 100_000, 1_000
	s := fresh(b)
	node := register(b, s)
	for b.Loop() {
		b.StopTimer()
		insertN(b, s, jobs)
		execute(b, "checkpoint")
		b.StartTimer()
		for left := jobs; left > 0; left -= batch {
			finishAll(b, s, claimN(b, s, node, batch), batch)
		}
	}
	b.ReportMetric(float64(jobs*b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkJob claims and finishes jobs in batches of 1,000. One op is a job.
func BenchmarkJob(b *testing.B) {
	const jobs, batch = 100_000, 1_000
	s := fresh(b)
	node := register(b, s)
	b.ReportAllocs()
	b.ResetTimer()
	stored := 0
	for left := b.N; left > 0; left -= batch {
		n := min(left, batch)
		if stored < n {
			b.StopTimer()
			insertN(b, s, jobs)
			stored += jobs
			b.StartTimer()
		}
		finishAll(b, s, claimN(b, s, node, n), n)
		stored -= n
	}
}

func finishAll(b testing.TB, s *Backend, jobs []store.Claimed, want int) {
	b.Helper()
	if len(jobs) != want {
		b.Fatalf("claimed %d jobs, want %d", len(jobs), want)
	}
	outcomes := make([]store.Outcome, len(jobs))
	for i, job := range jobs {
		outcomes[i] = store.Outcome{ID: job.ID, Token: job.Token, Result: store.Completed}
	}
	res, err := s.Finish(context.Background(), store.FinishRequest{Outcomes: outcomes})
	must(b, err)
	if len(res.Refused) > 0 {
		b.Fatalf("%d outcomes were refused", len(res.Refused))
	}
}

// BenchmarkInsert stores jobs, 1,000 a call.
func BenchmarkInsert(b *testing.B) {
	s := fresh(b)
	for b.Loop() {
		insertN(b, s, 1_000)
	}
	b.ReportMetric(float64(1_000*b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkInsertSingle stores jobs, one a call, from 8 goroutines over as many
// connections.
func BenchmarkInsertSingle(b *testing.B) {
	s := fresh(b, MaxConns(8))
	b.ReportAllocs()
	b.SetParallelism(8 / runtime.GOMAXPROCS(0))
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			insertN(b, s, 1)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkEnqueue stores jobs through a client, one a call, from several goroutines, whose
// calls the insert batcher puts together; and 1,000 a call.
func BenchmarkEnqueue(b *testing.B) {
	for _, goroutines := range []int{8, 100, 1_000} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			client, _ := newClient(b)
			b.ReportAllocs()
			b.SetParallelism(max(goroutines/runtime.GOMAXPROCS(0), 1))
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					_, err := client.Enqueue(context.Background(), note{To: "someone@example.org", Subject: "hello"})
					must(b, err)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
	b.Run("many=1000", func(b *testing.B) {
		client, _ := newClient(b)
		requests := make([]hourbell.Request, 1_000)
		for i := range requests {
			requests[i].Args = note{To: "someone@example.org", Subject: "hello"}
		}
		b.ReportAllocs()
		for b.Loop() {
			_, err := client.EnqueueMany(context.Background(), requests)
			must(b, err)
		}
		b.ReportMetric(float64(len(requests)*b.N)/b.Elapsed().Seconds(), "jobs/s")
	})
}

// note is the args of a job.
type note struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
}

func (note) Kind() string { return "k" }

func newClient(t testing.TB) (*hourbell.Client, *Backend) {
	t.Helper()
	b := fresh(t)
	client, err := hourbell.New(b, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return client, b
}

// BenchmarkClaim claims jobs, 100 a call: by their kind, and as one of 1,000
// exact ones.
func BenchmarkClaim(b *testing.B) {
	const batch = 100
	job := noop(1)[0]
	exact := []store.ExactJob{store.NewExactJob(job.Kind, job.Args)}
	for i := range 999 {
		exact = append(exact, store.NewExactJob(job.Kind, fmt.Append(nil, i)))
	}
	for name, req := range map[string]store.ClaimRequest{
		"kinds": {Kinds: []string{"k"}},
		"exact": {Exact: exact},
	} {
		b.Run(name, func(b *testing.B) {
			s := fresh(b)
			req.Node, req.Queue, req.Limit = register(b, s), "q", batch
			left := 0
			for b.Loop() {
				if left == 0 {
					b.StopTimer()
					left = 20_000
					insertN(b, s, left)
					b.StartTimer()
				}
				req.Part = true
				res, err := s.Claim(context.Background(), req)
				must(b, err)
				if left -= len(res.Jobs); len(res.Jobs) != batch {
					b.Fatalf("claimed %d jobs, want %d", len(res.Jobs), batch)
				}
			}
			b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkFire fires the slots of 20,000 schedules, 500 a call; each slot
// makes one job; one of 100,000 schedules is due.
func BenchmarkFire(b *testing.B) {
	const due, batch = 20_000, 500
	s := fresh(b)
	rows := planned(b, s, 5*due)
	next := firstNow
	for b.Loop() {
		b.StopTimer()
		next = next.Add(time.Minute)
		now := make([]store.Schedule, due)
		for i := range now {
			now[i] = rows[i*5]
		}
		firings := ringing(now)
		execute(b, "checkpoint")
		b.StartTimer()
		for first := 0; first < due; first += batch {
			if got := len(fire(b, s, next, firings[first:first+batch]).Fired); got != batch {
				b.Fatalf("%d slots fired, want %d", got, batch)
			}
		}
		for i := range now {
			rows[i*5].Mark, rows[i*5].NextAt = next, next.Add(time.Minute)
		}
	}
	b.ReportMetric(float64(due*b.N)/b.Elapsed().Seconds(), "slots/s")
}
