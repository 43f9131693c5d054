package fire_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/internal/fire"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// put stores a schedule with a slot every 10 s, and a change of it.
func put(t *testing.T, backend store.Backend, kind string) (change func() (time.Time, error)) {
	t.Helper()
	text, err := plan.Definition{
		Rule: recur.Spec{Every: "10s"}, Kind: kind, Args: "null", Queue: "q", Priority: 5, MaxAttempts: 1, Overlap: plan.OverlapAllow,
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return func() (time.Time, error) {
		res, err := backend.PutSchedules(t.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: text}}})
		return res.FiredTo, err
	}
}

// kinds counts the jobs of each kind.
func kinds(t *testing.T, backend store.Backend) map[string]int {
	t.Helper()
	jobs, err := backend.ListJobs(t.Context(), store.ListJobsRequest{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, job := range jobs {
		counts[job.Kind]++
	}
	return counts
}

func TestDueSlotsAreSettledBeforeAChange(t *testing.T) {
	for name, names := range map[string][]string{"by name": {"s"}, "all": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend := memory.New()
				settler := fire.Settler{Store: backend}
				if err := settler.Change(t.Context(), names, put(t, backend, "old")); err != nil {
					t.Fatal(err)
				}
				if err := settler.Change(t.Context(), names, put(t, backend, "old")); err != nil { // plans the first slot
					t.Fatal(err)
				}
				time.Sleep(25 * time.Second)
				if _, err := put(t, backend, "new")(); !errors.Is(err, store.ErrUnsettled) {
					t.Fatalf("a change while slots are due: %v", err)
				}
				if err := settler.Change(t.Context(), names, put(t, backend, "new")); err != nil {
					t.Fatal(err)
				}
				if got := kinds(t, backend); got["old"] == 0 || got["new"] != 0 {
					t.Errorf("jobs by kind: %v; due slots belong to the old definition", got)
				}
			})
		})
	}
}

func TestAChangeReturnsAfterSlotsThatHadFiredAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settler := fire.Settler{Store: memory.New()}
		for name, test := range map[string]struct{ ahead, want time.Duration }{
			"fired ahead":                         {500 * time.Millisecond, 500 * time.Millisecond},
			"at most store.MostAhead":             {store.MostAhead, store.MostAhead},
			"further ahead, so the clock was set": {time.Hour, 0},
			"before now":                          {-time.Second, 0},
		} {
			began := time.Now()
			err := settler.Change(t.Context(), nil, func() (time.Time, error) { return began.Add(test.ahead), nil })
			if took := time.Since(began); err != nil || took != test.want {
				t.Errorf("%s: it took %v, want %v; %v", name, took, test.want, err)
			}
		}
		if err := settler.Change(t.Context(), nil, func() (time.Time, error) { return time.Time{}, nil }); err != nil {
			t.Error(err)
		}
	})
}

func TestAChangeThatIsNeverSettledEnds(t *testing.T) {
	settler := fire.Settler{Store: memory.New()}
	tries := 0
	err := settler.Change(t.Context(), []string{"s"}, func() (time.Time, error) { tries++; return time.Time{}, store.ErrUnsettled })
	if !errors.Is(err, store.ErrUnsettled) || tries != 100 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	tries = 0
	err = settler.Change(t.Context(), nil, func() (time.Time, error) { tries++; return time.Time{}, store.ErrConflict })
	if !errors.Is(err, store.ErrConflict) || tries != 1 {
		t.Errorf("another error, after %d tries: %v", tries, err)
	}
}

func TestASuspendedStoreSettlesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		settler := fire.Settler{Store: backend}
		for range 2 {
			if err := settler.Change(t.Context(), nil, put(t, backend, "old")); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(25 * time.Second)
		if _, err := backend.ReportLoss(t.Context(), store.ReportLossRequest{Seen: store.Position{Token: 100}}); err != nil {
			t.Fatal(err)
		}
		if err := settler.Change(t.Context(), nil, put(t, backend, "new")); !errors.Is(err, node.ErrSuspended) {
			t.Errorf("a change of a suspended store: %v", err)
		}
		settled, err := settler.AfterLoss(t.Context(), false)
		if err != nil || settled != (fire.Settled{Schedules: 1, Missed: 2}) {
			t.Errorf("settled %+v, %v; want the two due slots as missed", settled, err)
		}
		time.Sleep(20 * time.Second)
		settled, err = settler.AfterLoss(t.Context(), true)
		if err != nil || settled != (fire.Settled{Schedules: 1, Fired: 2}) {
			t.Errorf("settled %+v, %v; want the two due slots fired", settled, err)
		}
	})
}

// losing is a store that writes no decision, because another writer is always first.
type losing struct{ store.Backend }

func (l losing) Fire(_ context.Context, req store.FireRequest) (store.FireResult, error) {
	return store.FireResult{Lost: []int64{req.Firings[0].Schedule}}, nil
}

func TestAfterLossGivesUpWhileSchedulesKeepChanging(t *testing.T) {
	backend := memory.New()
	if _, err := put(t, backend, "k")(); err != nil {
		t.Fatal(err)
	}
	if settled, err := (fire.Settler{Store: losing{backend}}).AfterLoss(t.Context(), true); err == nil {
		t.Errorf("settled %+v", settled)
	}
}
