package rowwise_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// oneLimit is a store with one limit by key, all of whose lanes are empty.
type oneLimit struct {
	rowwise.LanesTx
	limits store.Limits
	ids    map[store.LaneKey]int64
	lanes  []store.Lane
}

func (s *oneLimit) ReadLimits(context.Context) (store.Limits, error) { return s.limits, nil }

func (s *oneLimit) TakeVacancies(context.Context, int) ([]rowwise.Vacancy, error) { return nil, nil }

func (s *oneLimit) FindDueLanes(context.Context, time.Time, int) ([]int64, error) { return nil, nil }

func (s *oneLimit) SaveAllotments(context.Context, []store.Allotment, time.Time) error { return nil }

func (s *oneLimit) SaveLanes(context.Context, []store.Lane) error { return nil }

func (s *oneLimit) LockLanes(_ context.Context, ids []int64) ([]store.Lane, error) {
	return s.lanes, nil
}

func (s *oneLimit) MakeLanes(context.Context, []store.LaneKey) (map[store.LaneKey]int64, error) {
	return s.ids, nil
}

// BenchmarkPassOnPermits is a step in which 2,000 jobs get the permits of lanes of their own.
func BenchmarkPassOnPermits(b *testing.B) {
	const jobs = 2000
	s := &oneLimit{limits: store.Limits{{ID: 1, Name: "l", ByKey: true, Concurrency: 1}}, ids: map[store.LaneKey]int64{}}
	fresh := make([]store.LaneJob, jobs)
	for i := range fresh {
		lane := store.LaneKey{Limit: 1, Key: strconv.Itoa(i)}
		s.ids[lane] = int64(i + 1)
		s.lanes = append(s.lanes, store.Lane{ID: int64(i + 1), LaneKey: lane})
		fresh[i] = store.LaneJob{ID: int64(i), JobSpec: store.JobSpec{Kind: "k", Queue: "q", Priority: 5, Key: lane.Key}}
	}
	b.ReportAllocs()
	for b.Loop() {
		passed, err := rowwise.PassOnPermits(b.Context(), s, fresh, time.Unix(1e9, 0))
		if err != nil || passed.Claimable != jobs {
			b.Fatal(passed, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/jobs, "ns/job")
}
