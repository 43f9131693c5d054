package memory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
	"github.com/hourbell/hourbell/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, opened())
}

// TestStoreWithoutAbilities checks that a backend that implements no optional
// interface passes the suite.
func TestStoreWithoutAbilities(t *testing.T) {
	if testing.Short() {
		t.Skip("TestStore has run the tests once")
	}
	storetest.Run(t, storetest.WithoutAbilities(opened()))
}

// TestTransactions runs the suite for the transactions of workers.
func TestTransactions(t *testing.T) {
	storetest.RunTransactions(t, func(*testing.T) storetest.WorkerStore[*memory.Tx] {
		s := memory.New()
		return storetest.WorkerStore[*memory.Tx]{Clients: [2]store.Backend{s, s}, Transactions: memory.Transactions(s)}
	})
}

// opened returns a function that opens an empty store.
func opened(options ...memory.Option) func(*testing.T) storetest.Store {
	return func(t *testing.T) storetest.Store {
		s := memory.New(options...)
		useNumbers(t, s)
		return storetest.Store{
			Clients:  [2]store.Backend{s, s},
			RowLocks: true,
			Begin: func(context.Context) (storetest.Transaction, error) {
				tx := s.Begin()
				return storetest.Transaction{Tx: tx, Commit: tx.Commit, Rollback: tx.Rollback}, nil
			},
		}
	}
}

// useNumbers uses up some numbers of each kind and leaves no other trace, so
// that the suite tests a store whose numbers differ from the reference's.
func useNumbers(t *testing.T, s *memory.Store) {
	t.Helper()
	ctx, now := t.Context(), time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	node, err := s.Register(ctx, store.RegisterRequest{Now: now, Lease: time.Second})
	must(t, err)
	keep := func(d time.Duration) {
		_, err := s.Put(ctx, store.PutRequest{Now: now, Feed: &store.PutFeed{Keep: d}})
		must(t, err)
	}
	var ids []int64
	for range 3 {
		res, err := s.Insert(ctx, store.InsertRequest{Now: now, Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q"}}}})
		must(t, err)
		ids = append(ids, res.IDs()...)
	}
	_, err = s.Claim(ctx, store.ClaimRequest{Now: now, Node: node.Node, Queue: "q", Kinds: []string{"k"}, Limit: 2})
	must(t, err)
	_, err = s.Leave(ctx, store.LeaveRequest{Now: now, Node: node.Node})
	must(t, err)
	_, err = s.ChangeJobs(ctx, store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: ids})
	must(t, err)
	keep(time.Minute)
	_, err = s.Prune(ctx, store.PruneRequest{Now: now.Add(time.Hour), Nodes: time.Second, Limit: 10})
	must(t, err)
	keep(store.EventKeep)
}

func TestClock(t *testing.T) {
	at := time.Date(2031, 2, 3, 4, 5, 6, 7999, time.FixedZone("east", 3600))
	s := memory.New(memory.WithClock(func() time.Time { return at }))
	now, err := s.Now(t.Context())
	must(t, err)
	if want := time.Date(2031, 2, 3, 3, 5, 6, 7000, time.UTC); now != want {
		t.Errorf("the store's clock must be the given one, in UTC and to the microsecond: got %v, want %v", now, want)
	}
}

func TestTransactionOfAnotherStore(t *testing.T) {
	a, b := memory.New(), memory.New()
	_, err := a.Insert(t.Context(), store.InsertRequest{Tx: b.Begin(), Jobs: []store.NewJob{{}}})
	if !errors.Is(err, store.ErrForeignTx) {
		t.Errorf("a transaction of another store must be refused: got %v", err)
	}
}

func TestTransactionEndsOnce(t *testing.T) {
	s := memory.New()
	tx := s.Begin()
	must(t, tx.Commit())
	if tx.Commit() == nil || tx.Rollback() == nil {
		t.Error("a transaction that has ended must not end again")
	}
}

func TestCancelledContext(t *testing.T) {
	s := memory.New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Now(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a call under a cancelled context must fail: got %v", err)
	}
	if _, err := s.Now(t.Context()); err != nil {
		t.Errorf("the store must go on: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
