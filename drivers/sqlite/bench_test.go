package sqlite

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// BenchmarkDrain claims and finishes 100,000 jobs that do nothing, a thousand
// at a time, through one Backend. One iteration is one drain; its jobs are
// inserted beforehand and not counted.
func BenchmarkDrain(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		for _, batch := range []int{1, 100, 1_000} {
			jobs := min(100_000, 1_000*batch)
			b.Run(fmt.Sprintf("synchronous=%s/batch=%d", mode, batch), func(b *testing.B) {
				var spent time.Duration
				for range b.N {
					spent += drain(b, mode, jobs, batch)
				}
				b.ReportMetric(float64(jobs*b.N)/spent.Seconds(), "jobs/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// drain returns how long it took to claim and finish all jobs of a new file.
func drain(b *testing.B, mode string, jobs, batch int) time.Duration {
	backend, node := benchBackend(b, mode)
	benchInsert(b, backend, jobs, 1_000)
	b.ResetTimer()
	start := time.Now()
	for left := jobs; left > 0; {
		claimed, err := backend.Claim(b.Context(), store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: batch})
		if err != nil {
			b.Fatal(err)
		}
		outcomes := make([]store.Outcome, len(claimed.Jobs))
		for i, job := range claimed.Jobs {
			outcomes[i] = store.Outcome{ID: job.ID, Token: job.Token, Result: store.Completed}
		}
		result, err := backend.Finish(b.Context(), store.FinishRequest{Outcomes: outcomes})
		if err != nil || len(result.Refused) > 0 || len(outcomes) == 0 {
			b.Fatalf("%d claimed, %d refused, %v", len(outcomes), len(result.Refused), err)
		}
		left -= len(outcomes)
	}
	return time.Since(start)
}

// BenchmarkIdleClaim claims, in vain, from a queue in which a million jobs are due
// that the node does not take.
func BenchmarkIdleClaim(b *testing.B) {
	const backlog = 1_000_000
	for _, other := range []struct {
		name  string
		job   store.NewJob
		exact []store.ExactJob
	}{
		{"none", store.NewJob{}, nil},
		{"kind", store.NewJob{JobSpec: store.JobSpec{Kind: "foreign", Priority: 5}}, nil},
		{"kind of another priority", store.NewJob{JobSpec: store.JobSpec{Kind: "foreign", Priority: 1}}, nil},
		{"args", store.NewJob{JobSpec: store.JobSpec{Kind: "command", Priority: 5}}, []store.ExactJob{store.NewExactJob("command", []byte("[1]"))}},
	} {
		b.Run("other="+other.name, func(b *testing.B) {
			backend, node := benchBackend(b, "NORMAL")
			if other.job.Kind != "" {
				insertSame(b, backend, other.job, backlog)
			}
			req := store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k", "l"}, Exact: other.exact, Limit: 10}
			start, again := time.Now(), true
			for again { // the first claims make digests
				res, err := backend.Claim(b.Context(), req)
				if again = res.Again > 0; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(time.Since(start).Seconds(), "s-before")
			for b.Loop() {
				if res, err := backend.Claim(b.Context(), req); err != nil || len(res.Jobs) > 0 {
					b.Fatalf("%d claimed, %v", len(res.Jobs), err)
				}
			}
		})
	}
}

// insertSame inserts a number of equal jobs into the queue q, due now.
func insertSame(tb testing.TB, backend *Backend, job store.NewJob, number int) {
	tb.Helper()
	job.Queue, job.MaxAttempts, job.Args = "q", 1, []byte("{}")
	for number > 0 {
		jobs := slices.Repeat([]store.NewJob{job}, min(number, 20_000))
		if _, err := backend.Insert(tb.Context(), store.InsertRequest{Jobs: jobs}); err != nil {
			tb.Fatal(err)
		}
		number -= len(jobs)
	}
}

// BenchmarkInsert inserts jobs, a thousand a call and one a call.
func BenchmarkInsert(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		for _, batch := range []int{1, 1_000} {
			b.Run(fmt.Sprintf("synchronous=%s/batch=%d", mode, batch), func(b *testing.B) {
				backend, _ := benchBackend(b, mode)
				b.ResetTimer()
				benchInsert(b, backend, b.N*batch, batch)
				b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "jobs/s")
			})
		}
	}
}

// BenchmarkInsertSingle stores jobs, one a call, from 8 goroutines.
func BenchmarkInsertSingle(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		b.Run("synchronous="+mode, func(b *testing.B) {
			backend, _ := benchBackend(b, mode)
			b.ReportAllocs()
			b.SetParallelism(max(8/runtime.GOMAXPROCS(0), 1))
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					benchInsert(b, backend, 1, 1)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkEnqueue stores jobs through a client, one a call, from several goroutines, whose
// calls the insert batcher puts together.
func BenchmarkEnqueue(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		for _, goroutines := range []int{8, 100, 1_000} {
			b.Run(fmt.Sprintf("synchronous=%s/goroutines=%d", mode, goroutines), func(b *testing.B) {
				backend, _ := benchBackend(b, mode)
				client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				b.SetParallelism(max(goroutines/runtime.GOMAXPROCS(0), 1))
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						if _, err := client.Enqueue(context.Background(), note{Customer: 12345, Subject: "the bell rings"}); err != nil {
							b.Fatal(err)
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			})
		}
	}
}

// note is the args of a job.
type note struct {
	Customer int    `json:"customer"`
	Subject  string `json:"subject"`
}

func (note) Kind() string { return "k" }

// BenchmarkEmptyClaim asks for jobs where there are none.
func BenchmarkEmptyClaim(b *testing.B) {
	backend, node := benchBackend(b, "FULL")
	for b.Loop() {
		if _, err := backend.Claim(b.Context(), store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchBackend(b *testing.B, mode string) (*Backend, int64) {
	backend := openFile(b, filepath.Join(b.TempDir(), "bench.db"), Synchronous(mode))
	if _, err := backend.MigrateUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	return backend, register(b, backend, time.Hour)
}

// benchInsert inserts jobs of four priorities, batch a call.
func benchInsert(b *testing.B, backend *Backend, jobs, batch int) {
	for done := 0; done < jobs; done += batch {
		list := make([]store.NewJob, min(batch, jobs-done))
		for i := range list {
			list[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Priority: int16(1 + i%4), MaxAttempts: 25, Args: fmt.Appendf(nil, `{"customer":%d,"subject":"the bell rings"}`, done+i)}}
		}
		if _, err := backend.Insert(b.Context(), store.InsertRequest{Jobs: list}); err != nil {
			b.Fatal(err)
		}
	}
}
