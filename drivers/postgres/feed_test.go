package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// endedJobs are the jobs of events.
func endedJobs(events []store.Event) (ids []int64) {
	for _, e := range events {
		ids = append(ids, e.Job)
	}
	return ids
}

// TestFeedWaitsForOpenTransactions checks that a reader misses no event of a transaction that
// stays open for five seconds while transactions that began later are committed.
func TestFeedWaitsForOpenTransactions(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	ctx := t.Context()
	node := register(t, b)
	insertN(t, b, 6)
	claims := claimN(t, b, node, 6)
	finish := func(c store.Claimed, tx store.Tx) {
		t.Helper()
		res, err := b.Finish(ctx, store.FinishRequest{Tx: tx, Outcomes: []store.Outcome{{ID: c.ID, Token: c.Token, Result: store.Completed, Alone: true}}})
		must(t, err)
		if len(res.Refused) > 0 {
			t.Fatalf("refused: %v", res.Refused)
		}
	}
	tx, err := b.pool.Begin(ctx)
	must(t, err)
	finish(claims[0], Tx(tx))
	var seen []int64
	var next store.EventCursor
	read := func() store.ListEventsResult {
		t.Helper()
		page, err := b.ListEvents(ctx, store.ListEventsRequest{After: next, Limit: 100})
		must(t, err)
		seen, next = append(seen, endedJobs(page.Events)...), page.Next
		return page
	}
	for i, began := 1, time.Now(); i < len(claims) || time.Since(began) < 5*time.Second; time.Sleep(time.Second) {
		if i < len(claims) {
			finish(claims[i], nil)
			i++
		}
		page := read()
		if len(seen) > 0 {
			t.Fatalf("events are shown before an open transaction that has an event: %v", seen)
		}
		if page.Held.IsZero() {
			t.Error("the page must report since when events are held back")
		}
	}
	must(t, tx.Commit(ctx))
	for deadline := time.Now().Add(time.Minute); len(seen) < 6 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		read()
	}
	want := make([]int64, len(claims))
	for i, c := range claims {
		want[i] = c.ID
	}
	slices.Sort(want)
	slices.Sort(seen)
	if !slices.Equal(seen, want) {
		t.Errorf("after the commit: %v, want %v", seen, want)
	}
}

// TestFeedOfAnotherServer checks that a reader with a cursor of a server whose transactions
// had greater numbers, from which the data were copied, is warned and goes on.
func TestFeedOfAnotherServer(t *testing.T) {
	b := fresh(t)
	ctx := t.Context()
	execute(t, withSchema("insert into {schema}.event (tx, at, type, subjects) values (1000000000000, now(), 3, '{77}'); update {schema}.feed set gone_tx = 999999999999, gone_id = 5", b.schema))
	node := register(t, b)
	insertN(t, b, 1)
	c := claimN(t, b, node, 1)[0]
	_, err := b.Finish(ctx, store.FinishRequest{Outcomes: []store.Outcome{{ID: c.ID, Token: c.Token, Result: store.Completed}}})
	must(t, err)
	var page store.ListEventsResult
	for deadline := time.Now().Add(time.Minute); len(page.Events) == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		page, err = b.ListEvents(ctx, store.ListEventsRequest{After: store.EventCursor{Tx: 999999999999, ID: 7}, Limit: 10})
		must(t, err)
	}
	if !page.Gap || !slices.Equal(endedJobs(page.Events), []int64{c.ID}) {
		t.Errorf("with a cursor of another server: %+v", page)
	}
	page, err = b.ListEvents(ctx, store.ListEventsRequest{After: page.Next, Limit: 10})
	must(t, err)
	if page.Gap || len(page.Events) > 0 || !page.Held.IsZero() {
		t.Errorf("after that: %+v", page)
	}
}
