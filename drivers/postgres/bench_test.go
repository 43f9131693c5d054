package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// BenchmarkDrain claims and finishes 100,000 no-op jobs in batches of 1,000 by
// one loop.
func BenchmarkDrain(b *testing.B) {
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
