package view

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestFailuresAreGrouped checks that failures of one schedule, or of one kind, with one first line are one group.
func TestFailuresAreGrouped(t *testing.T) {
	job := func(id int64, kind, schedule, reason string) store.JobInfo {
		return store.JobInfo{JobSpec: store.JobSpec{Kind: kind}, ID: id, ScheduleName: schedule, Reason: reason}
	}
	now := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	jobs := []store.JobInfo{
		job(9, "mail", "", "refused"), job(8, "sync", "s", "timeout\nof host a"), job(7, "sync", "s", "timeout\nof host b"),
		job(6, "sync", "", "timeout"), job(5, "sync", "s", "other"),
	}
	jobs[1].FinishedAt, jobs[2].FinishedAt = now.Add(-time.Minute), now.Add(-3*time.Hour-time.Second)
	groups := FailureGroups(jobs, now)
	if got := groups[0].Trend(); got != strings.Repeat("·", 20)+"█··█" || groups[1].Trend() != strings.Repeat("·", 24) {
		t.Errorf("the trend is %s, in words %s", got, groups[0].TrendWords())
	}
	if len(groups) != 4 || groups[0].Count != 2 || groups[0].Newest.ID != 8 || groups[0].Error != "timeout" || groups[1].Newest.ID != 9 || groups[2].Schedule != "" {
		t.Errorf("the groups are %+v", groups)
	}
}

// TestSlow checks which running jobs take much longer than expected.
func TestSlow(t *testing.T) {
	o := Overview{Expected: map[int64]time.Duration{1: time.Minute, 2: 10 * time.Millisecond}}
	o.Now = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		id      int64
		elapsed time.Duration
		slow    bool
	}{{1, 119 * time.Second, false}, {1, 121 * time.Second, true}, {2, 900 * time.Millisecond, false}, {3, time.Hour, false}} {
		if got := o.Slow(store.JobInfo{ID: c.id, StartedAt: o.Now.Add(-c.elapsed)}); got != c.slow {
			t.Errorf("job %d after %v: slow is %v", c.id, c.elapsed, got)
		}
	}
}
