package store

import (
	"testing"
	"time"
)

func TestQueueRatesBoundClaims(t *testing.T) {
	noon := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	// Of the burst of four, the slack of the rate, a tenth of a second, takes one.
	rated := QueuePermits{Revision: 7, Slack: time.Second}
	for name, test := range map[string]struct {
		permits   QueuePermits
		starts    int // before the claim
		notBefore time.Time
		limit     int
		ahead     int
		next      time.Time
	}{
		"an old revision":       {permits: QueuePermits{Revision: 6}, limit: 0, ahead: 3},
		"no rate":               {permits: QueuePermits{Revision: 7}, starts: 9, limit: 10, ahead: 3},
		"closed by a worker":    {permits: rated, notBefore: noon.Add(time.Minute), limit: 0, ahead: 3, next: noon.Add(time.Minute)},
		"closed until now":      {permits: rated, notBefore: noon, limit: 3},
		"all starts are there":  {permits: rated, limit: 3},
		"some starts are there": {permits: rated, starts: 2, limit: 1},
		"none is there":         {permits: rated, starts: 3, limit: 0, next: noon.Add(100 * time.Millisecond)},
	} {
		var q QueueRates
		if !q.Add(&Limit{ID: 3, Revision: 7, Rate: 1, Per: time.Second, Burst: 4}, time.Time{}, test.notBefore) {
			t.Fatal("the limit has no rate")
		}
		if q.Add(&Limit{ID: 4, Revision: 5}, time.Time{}, time.Time{}) {
			t.Error("a limit without a rate has one")
		}
		if test.starts > 0 {
			q.Rates[0].start(noon, test.starts)
		}
		var out ClaimResult
		req := q.Bound(ClaimRequest{Limit: 10, Ahead: 3, Permits: test.permits}, noon, &out)
		if req.Limit != test.limit || req.Ahead != test.ahead || !out.NextStart.Equal(test.next) || out.LimitRevision != 7 {
			t.Errorf("%s: limit %d, ahead %d, next start %v, revision %d", name, req.Limit, req.Ahead, out.NextStart, out.LimitRevision)
		}
	}
}
