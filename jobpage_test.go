package hourbell_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// slowStore is a store that needs pause for each call with a bound, and that searches and
// counts at most most numbers in time.
type slowStore struct {
	store.Backend
	most   int64
	pause  time.Duration
	newest int64
	busy   bool  // answers no call with a bound in time
	gone   int64 // how many jobs above newest have been deleted
}

func (s *slowStore) slow(after, before int64, within time.Duration) bool {
	if before == 0 {
		before = s.newest + 1
	}
	if within > 0 {
		time.Sleep(s.pause)
	}
	return within > 0 && (s.busy || before-after-1 > s.most)
}

func (s *slowStore) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	if s.slow(req.After, req.Before, req.Within) {
		return nil, store.ErrSlow
	}
	if newest := req.Limit == 1 && req.Before == 0; newest && s.gone > 0 {
		return []store.JobInfo{{ID: s.newest + s.gone}}, nil
	}
	return s.Backend.ListJobs(ctx, req)
}

func (s *slowStore) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	if s.slow(req.After, req.Before, req.Within) {
		return 0, store.ErrSlow
	}
	return s.Backend.CountJobs(ctx, req)
}

// rareJobs is a client of a slow store with jobs; each hundredth job is rare.
func rareJobs(t *testing.T, jobs int, s slowStore) (client *hourbell.Client, rare []int64) {
	t.Helper()
	s.Backend, s.newest = memory.New(), int64(jobs)
	client, err := hourbell.New(&s, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var requests []hourbell.Request
	for i := range jobs {
		kind := "often"
		if i%100 == 50 {
			kind, rare = "rare", append(rare, int64(i+1))
		}
		requests = append(requests, hourbell.Request{Args: hourbell.RawArgs{Name: kind}})
	}
	if _, err := client.EnqueueMany(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(rare)
	return client, rare
}

// TestPagesOfASlowSearch checks that all pages together have each job that matches once, that
// a page never takes much longer than it may, and that only full pages are not partial. A page is not partial because the
// store is slow.
func TestPagesOfASlowSearch(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		for name, s := range map[string]slowStore{
			"quick":       {most: 1 << 40},
			"wide parts":  {most: 5000},
			"small parts": {most: 2000, pause: 20 * time.Millisecond, gone: 100_000},
			"one number":  {most: 1},
			"busy":        {busy: true, pause: 5 * time.Millisecond},
		} {
			jobs := 3000
			if s.most == 1 {
				jobs = 200
			}
			client, rare := rareJobs(t, jobs, s)
			const size = 20
			var found []int64
			f, partial := hourbell.JobFilter{Kind: "rare", Limit: size}, 0
			for pages := 0; ; pages++ {
				page, err := client.Jobs.Page(t.Context(), f)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, job := range page.Jobs {
					found = append(found, job.ID)
				}
				if page.Partial {
					partial++
				}
				if page.Next == 0 {
					break
				}
				if len(page.Jobs) > size || len(page.Jobs) < size && !page.Partial || f.Before != 0 && page.Next >= f.Before || pages > 5000 {
					t.Fatalf("%s: a page of %d jobs below %d, partial %v, next %d", name, len(page.Jobs), f.Before, page.Partial, page.Next)
				}
				f.Before = page.Next
			}
			if !slices.Equal(found, rare) {
				t.Errorf("%s: found %v, not %v", name, found, rare)
			}
			if name == "small parts" != (partial > 0) {
				t.Errorf("%s: %d partial pages", name, partial)
			}
		}
	})
}

func TestEstimates(t *testing.T) {
	for name, test := range map[string]struct {
		store slowStore
		exact bool
	}{
		"quick":   {slowStore{most: 1 << 40}, true},
		"slow":    {slowStore{most: 2000}, false},
		"slowest": {slowStore{most: 2000, pause: 10 * time.Millisecond}, false},
	} {
		client, rare := rareJobs(t, 20_000, test.store)
		got, err := client.Jobs.Estimate(t.Context(), hourbell.JobFilter{Kind: "rare"})
		want := int64(len(rare))
		if err != nil || got.Exact != test.exact || got.Jobs < want*9/10 || got.Jobs > want*11/10 {
			t.Errorf("%s: %+v, %v; there are %d", name, got, err, want)
		}
	}
}
