package mysql

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestEventsWithoutRightsToWrite reads the feed as a user who may only read: the events appear when a node, which prunes
// now and then, has given them their numbers.
func TestEventsWithoutRightsToWrite(t *testing.T) {
	url, db := newDatabase(t, "")
	b := openStore(t, url)
	migrate(t, b)
	reader := openStore(t, asUser(t, db, url, "SELECT"))
	insertPlain(t, b, 1)
	node, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Minute, Queues: []string{"q"}, Kinds: []string{"k"}})
	must(t, err)
	job := claimPlain(t, b, node.Node, 1)[0]
	_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Completed}}})
	must(t, err)
	events := func() int {
		page, err := reader.ListEvents(t.Context(), store.ListEventsRequest{Limit: 10})
		must(t, err)
		return len(page.Events)
	}
	if n := events(); n != 0 {
		t.Errorf("there are %d events before they have numbers", n)
	}
	_, err = b.Prune(t.Context(), store.PruneRequest{Completed: time.Hour, Failed: time.Hour, Slots: time.Hour, Limit: 100})
	must(t, err)
	if n := events(); n != 1 {
		t.Errorf("there are %d events, want 1", n)
	}
}
