package postgres

import (
	"context"
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

func finishAll(b *testing.B, s *Backend, jobs []store.Claimed, want int) {
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
