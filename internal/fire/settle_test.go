package fire_test

import (
	"context"
	"errors"
	"slices"
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
func put(t *testing.T, backend store.Backend, kind string) (change func() (edited []string, err error)) {
	t.Helper()
	text, err := plan.Definition{
		Rule: recur.Spec{Every: "10s"}, Kind: kind, Args: "null", Queue: "q", Priority: 5, MaxAttempts: 1, Overlap: plan.OverlapAllow,
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return func() (edited []string, err error) {
		res, err := backend.PutSchedules(t.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: text}}})
		return res.Edited, err
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

// firedTo is a store whose schedules have fired up to an instant.
type firedTo struct {
	*memory.Store
	at    time.Time
	asked []string
}

func (f *firedTo) List(_ context.Context, req store.ListRequest) (store.Listing, error) {
	f.asked = append(f.asked, req.Names...)
	return store.Listing{Schedules: []store.Schedule{{Mark: f.at}}}, nil
}

func TestAChangeReturnsAfterSlotsThatHadFiredAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edit := func(settler fire.Settler, names ...string) time.Duration {
			t.Helper()
			began := time.Now()
			if err := settler.Change(t.Context(), nil, func() ([]string, error) { return names, nil }); err != nil {
				t.Error(err)
			}
			return time.Since(began)
		}
		for name, test := range map[string]struct{ ahead, want time.Duration }{
			"fired ahead":                         {500 * time.Millisecond, 500 * time.Millisecond},
			"at most store.MostAhead":             {store.MostAhead, store.MostAhead},
			"further ahead, so the clock was set": {time.Hour, 0},
			"before now":                          {-time.Second, 0},
		} {
			early := &firedTo{Store: memory.New(), at: time.Now().Add(test.ahead)}
			if took := edit(fire.Settler{Store: early}, "a", "b"); took != test.want || !slices.Equal(early.asked, []string{"a", "b"}) {
				t.Errorf("%s: it took %v, want %v; asked for %v", name, took, test.want, early.asked)
			}
		}
		if took := edit(fire.Settler{Store: &firedTo{Store: memory.New()}}, "a"); took != 0 {
			t.Errorf("a schedule that has not fired early: it took %v", took)
		}
		if early := (&firedTo{Store: memory.New(), at: time.Now().Add(time.Second)}); edit(fire.Settler{Store: early}) != 0 || early.asked != nil {
			t.Errorf("an edit of no schedule waited, or asked for %v", early.asked)
		}
	})
}

func TestAChangeThatIsNeverSettledEnds(t *testing.T) {
	settler := fire.Settler{Store: memory.New()}
	tries := 0
	err := settler.Change(t.Context(), []string{"s"}, func() ([]string, error) { tries++; return nil, store.ErrUnsettled })
	if !errors.Is(err, store.ErrUnsettled) || tries != 100 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	tries = 0
	err = settler.Change(t.Context(), nil, func() ([]string, error) { tries++; return nil, store.ErrConflict })
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
