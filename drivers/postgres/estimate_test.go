package postgres

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestEstimates compares estimates with counts, among many jobs.
func TestEstimates(t *testing.T) {
	b := fresh(t, MaxConns(2))
	execute(t, withSchema(`
		insert into {schema}.job (run_at, created_at, timeout_ns, priority, state, max_attempts, on_loss, origin, queue, kind, args, group_name)
		select now() + (i - 45000) * interval '1 second', now(), 0, 1 + i % 9, case when i % 50 = 0 then 1 else 0 end, 1, 0, 0, 'q' || i % 3, 'k', '{}', case when i > 30000 then 'large' end from generate_series(1, 60000) i;
		insert into {schema}.job (run_at, created_at, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, args)
		values (now() - interval '1 hour', now(), 0, 5, 1, 0, 0, 'rare', 'k', '{}'), (now() + interval '1 hour', now(), 0, 5, 1, 0, 0, 'rarer', 'k', '{}');
		insert into {schema}.schedule (revision, anchor, mark, created_at, updated_at, name, owner, definition, group_name) values (1, now(), now(), now(), now(), 's', '', '{}', 'small');
		analyze {schema}.job`, b.schema))
	want, err := store.List[store.QueueInfo](t.Context(), b, store.ListRequest{})
	must(t, err)
	got, err := store.List[store.QueueInfo](t.Context(), b, store.ListRequest{Estimate: true})
	must(t, err)
	if len(got) != 5 || len(want) != 5 {
		t.Fatalf("the queues are\n%+v\nnot\n%+v", got, want)
	}
	near := func(a, b int64) bool { return math.Abs(float64(a-b)) <= 0.2*float64(b) }
	for i, q := range got {
		w := want[i]
		if q.Name != w.Name || !q.Oldest.Equal(w.Oldest) || !q.Estimated {
			t.Errorf("the queue is %+v, not %+v", q, w)
		}
		if w.Ready > 1 && (!near(q.Ready, w.Ready) || !near(q.Scheduled, w.Scheduled) || !near(q.Waiting, w.Waiting)) {
			t.Errorf("the estimate is %+v, the counts %+v", q, w)
		}
	}
	if rare := got[3]; rare.Ready < 1 {
		t.Errorf("a queue has its oldest job, and no due job: %+v", rare)
	}
	groups, err := store.List[store.GroupInfo](t.Context(), b, store.ListRequest{Estimate: true})
	must(t, err)
	if len(groups) != 2 || groups[0].Name != "large" || !groups[0].Estimated || !near(groups[0].Scheduled+groups[0].Ready, 29400) || !near(groups[0].Waiting, 600) {
		t.Errorf("the groups are %+v", groups)
	}
	counted, err := store.List[store.QueueInfo](t.Context(), b, store.ListRequest{Estimate: true, Within: time.Minute})
	must(t, err)
	if !slices.EqualFunc(counted, want, func(a, b store.QueueInfo) bool { return a.Name == b.Name && a.Waiting == b.Waiting && !a.Estimated }) {
		t.Errorf("with enough time the queues are %+v, not %+v", counted, want)
	}
}
