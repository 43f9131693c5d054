package postgres

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
)

// wakeLimit is how long after a commit a job has to be claimed by a node that claims only when it
// is woken. It is 8 ms on a quiet machine, and the tests' machine is not.
const wakeLimit = 5 * time.Second

// wokenClaimer claims jobs of queue q only when it is woken, and records when.
type wokenClaimer struct {
	b     *Backend
	node  int64
	mu    sync.Mutex
	at    map[int64]time.Time
	watch []time.Time // when it was told to watch
}

func newWokenClaimer(t *testing.T, schema string) *wokenClaimer {
	t.Helper()
	b := openAt(t, urlFrom(t, serverVariable), schema)
	c := &wokenClaimer{b: b, node: register(t, b), at: map[int64]time.Time{}}
	wakes, _ := listening(t, b)
	go func() {
		for w := range wakes {
			switch w.Kind {
			case store.WakeJobs:
				c.claim(t)
			case store.WakeWatch:
				c.mu.Lock()
				c.watch = append(c.watch, time.Now())
				c.mu.Unlock()
			}
		}
	}()
	return c
}

func (c *wokenClaimer) claim(t *testing.T) {
	for {
		res, err := c.b.Claim(context.Background(), store.ClaimRequest{Node: c.node, Queue: "q", Kinds: []string{"k"}, Limit: 1000})
		if err != nil {
			if t.Context().Err() == nil {
				t.Error(err)
			}
			return
		}
		c.mu.Lock()
		for _, job := range res.Jobs {
			c.at[job.ID] = time.Now()
		}
		c.mu.Unlock()
		if len(res.Jobs) < 1000 {
			return
		}
	}
}

// await waits until jobs were claimed, and returns when they were.
func (c *wokenClaimer) await(t *testing.T, ids ...int64) map[int64]time.Time {
	t.Helper()
	missing := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		c.mu.Lock()
		missing = 0
		found := map[int64]time.Time{}
		for _, id := range ids {
			if at, ok := c.at[id]; ok {
				found[id] = at
			} else {
				missing++
			}
		}
		c.mu.Unlock()
		if missing == 0 {
			return found
		}
	}
	t.Errorf("no wake-up for %d of %d jobs", missing, len(ids))
	return nil
}

func (c *wokenClaimer) watches() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.watch)
}

// beginIn begins transactions of a program with pgx.
func beginIn(pool *pgxpool.Pool) func(t *testing.T) programTx {
	return func(t *testing.T) programTx {
		tx, err := pool.Begin(t.Context())
		must(t, err)
		return programTx{
			Tx(tx), func() error { return tx.Commit(t.Context()) }, func() error { return tx.Rollback(t.Context()) },
			func(text string) error { _, err := tx.Exec(t.Context(), text); return err },
		}
	}
}

// TestNoCommitIsWithoutAWakeUp makes many concurrent transactions that insert jobs of all sorts, are
// open for different times, roll back to savepoints, and commit or roll back. Every job that was
// committed is claimed within wakeLimit by a node that claims only when it is woken.
func TestNoCommitIsWithoutAWakeUp(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	config, err := pgxpool.ParseConfig(urlFrom(t, bouncerVariable))
	must(t, err)
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	bouncer, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(bouncer.Close)
	ways := programTxs(t)
	for _, way := range []string{"pgx", "lib/pq", "stdlib", "PgBouncer"} {
		t.Run(way, func(t *testing.T) {
			schema := newSchema(t)
			migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
			claimer := newWokenClaimer(t, schema)
			pool, begin := newPool(t), ways[way]
			if way == "PgBouncer" {
				pool, begin = bouncer, beginIn(bouncer)
			}
			b := New(pool, Schema(schema))
			t.Cleanup(func() { b.Close() })
			checkWakeUps(t, b, begin, claimer, seed)
		})
	}
}

func checkWakeUps(t *testing.T, b *Backend, begin func(t *testing.T) programTx, claimer *wokenClaimer, seed uint64) {
	const clients, each = 4, 100
	var mu sync.Mutex
	committed := map[int64]time.Time{}
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			for n := range each {
				ids, at := oneCallersTx(t, b, begin, random, fmt.Sprint(client, " ", n))
				mu.Lock()
				for _, id := range ids {
					committed[id] = at
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	var ids []int64
	for id := range committed {
		ids = append(ids, id)
	}
	late := time.Duration(0)
	for id, at := range claimer.await(t, ids...) {
		late = max(late, at.Sub(committed[id]))
	}
	t.Logf("%d jobs, claimed at most %v after their commits", len(ids), late)
	if late > wakeLimit {
		t.Errorf("a job was claimed %v after its commit", late)
	}
	b.commitWakes.mu.Lock()
	announced := len(b.commitWakes.announced)
	b.commitWakes.mu.Unlock()
	if announced == 0 {
		t.Error("no transaction was remembered")
	}
}

// oneCallersTx makes a transaction and returns its jobs if it was committed, and when.
func oneCallersTx(t *testing.T, b *Backend, begin func(t *testing.T) programTx, random *rand.Rand, key string) (ids []int64, at time.Time) {
	ctx := t.Context()
	tx := begin(t)
	insert := func(jobs []store.NewJob) {
		res, err := b.Insert(ctx, store.InsertRequest{Tx: tx.tx, Jobs: jobs})
		must(t, err)
		ids = append(ids, res.IDs()...)
	}
	switch random.IntN(5) {
	case 0:
		jobs := noop(2)
		jobs[0].Unique, jobs[1].Unique = key+"a", key+"b"
		insert(jobs)
	case 1:
		insert(noop(3))
	case 2:
		must(t, tx.exec("savepoint a"))
		insert(noop(1))
		must(t, tx.exec("rollback to a"))
		ids = nil
		insert(noop(1))
	case 3:
		must(t, tx.exec("savepoint a"))
		jobs := noop(2)
		jobs[0].Args, jobs[0].Priority = []byte("1"), 1
		insert(jobs)
		must(t, tx.exec("release a"))
	default:
		insert(noop(1))
	}
	if random.IntN(10) == 0 {
		time.Sleep(rand.N(50 * time.Millisecond))
	}
	if random.IntN(3) == 0 {
		must(t, tx.rollback())
		return nil, at
	}
	must(t, tx.commit())
	return ids, time.Now()
}

// rememberedTx makes b remember a transaction, and returns it and its job. None is remembered until
// the loop has announced that, for which it may need a new connection.
func rememberedTx(t *testing.T, b *Backend, begin func(t *testing.T) programTx) (tx programTx, id int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		before := rememberedBy(b)
		tx := begin(t)
		res, err := b.Insert(t.Context(), store.InsertRequest{Tx: tx.tx, Jobs: noop(1)})
		must(t, err)
		if rememberedBy(b) > before { // other transactions of the test do not end
			return tx, res.Jobs[0].ID
		}
		must(t, tx.rollback())
	}
	t.Fatal("no transaction is remembered")
	return tx, 0
}

func rememberedBy(b *Backend) int { return remembered(b.commitWakes) }

// TestAFullPoolDelaysNoWakeUp holds all connections of the program by transactions that insert: the
// wake-up of a commit does not need one of them, also in a program without a node.
func TestAFullPoolDelaysNoWakeUp(t *testing.T) {
	schema := newSchema(t)
	migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
	claimer := newWokenClaimer(t, schema)
	pool := poolOf(t, urlFrom(t, serverVariable), 3)
	b := New(pool, Schema(schema))
	t.Cleanup(func() { b.Close() })
	begin := beginIn(pool)
	var txs []programTx
	var ids []int64
	for range 3 {
		tx, id := rememberedTx(t, b, begin)
		txs, ids = append(txs, tx), append(ids, id)
	}
	if stat := pool.Stat(); stat.IdleConns() > 0 || stat.AcquiredConns() < stat.MaxConns() {
		t.Fatalf("the pool has free connections: %d of %d are in use", stat.AcquiredConns(), stat.MaxConns())
	}
	must(t, txs[0].exec("commit"))
	at := time.Now()
	if got := claimer.await(t, ids[0])[ids[0]]; got.Sub(at) > wakeLimit {
		t.Errorf("the job was claimed %v after its commit", got.Sub(at))
	}
	for _, tx := range txs {
		_ = tx.rollback()
	}
}

// TestALongTransactionIsWoken commits a transaction that was open for some seconds.
func TestALongTransactionIsWoken(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
	claimer := newWokenClaimer(t, schema)
	pool := newPool(t)
	b := New(pool, Schema(schema))
	t.Cleanup(func() { b.Close() })
	tx, id := rememberedTx(t, b, beginIn(pool))
	time.Sleep(announceEvery + time.Second)
	if n := claimer.watches(); n < 2 {
		t.Errorf("nodes were told %d times to watch while a transaction was open", n)
	}
	must(t, tx.commit())
	at := time.Now()
	if got := claimer.await(t, id)[id]; got.Sub(at) > wakeLimit {
		t.Errorf("the job was claimed %v after its commit", got.Sub(at))
	}
	awaitThat(t, "the loop to end", func() bool { return !loopRuns(b.commitWakes) })
}

// TestThePreparedTransactionIsWoken commits a transaction by COMMIT PREPARED in another session. It
// also restarts the server while transactions are remembered: their wake-ups are sent.
func TestThePreparedTransactionIsWoken(t *testing.T) {
	server := testserver.New(t)
	url := startServer(t, server, nil, "max_prepared_transactions=5")
	b := openAt(t, url, DefaultSchema)
	migrate(t, b)
	wakes, _ := listening(t, openAt(t, url, DefaultSchema))
	pool := poolOf(t, url, 4)
	tx, _ := rememberedTx(t, b, beginIn(pool))
	must(t, tx.exec("prepare transaction 'later'"))
	_ = tx.rollback() // of nothing
	time.Sleep(100 * time.Millisecond)
	if rememberedBy(b) != 1 {
		t.Fatalf("%d transactions are remembered, want the prepared one", rememberedBy(b))
	}
	drainWakes(wakes)
	_, err := pool.Exec(t.Context(), "commit prepared 'later'")
	must(t, err)
	awaitJobsWake(t, wakes)
}

func awaitJobsWake(t *testing.T, wakes chan store.Wake) {
	t.Helper()
	for deadline := time.After(wakeLimit); ; {
		select {
		case w := <-wakes:
			if w.Kind == store.WakeJobs {
				return
			}
		case <-deadline:
			t.Fatal("no wake-up")
		}
	}
}

// TestTheLoopsConnectionBreaks ends the loop's connection again and again while transactions commit.
func TestTheLoopsConnectionBreaks(t *testing.T) {
	schema := newSchema(t)
	migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
	claimer := newWokenClaimer(t, schema)
	u, err := url.Parse(urlFrom(t, serverVariable))
	must(t, err)
	name := fmt.Sprint("breaks ", time.Now().UnixNano())
	query := u.Query()
	query.Set("application_name", name)
	u.RawQuery = query.Encode()
	b := New(poolOf(t, u.String(), 4), Schema(schema))
	t.Cleanup(func() { b.Close() })
	begin := beginIn(newPool(t)) // the callers' connections stay
	end := make(chan struct{})
	var breaker sync.WaitGroup
	breaker.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(30 * time.Millisecond):
				execute(t, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = '"+name+"'")
			}
		}
	})
	committed := map[int64]time.Time{}
	deferred := 0
	for range 300 {
		before := rememberedBy(b)
		tx := begin(t)
		res, err := b.Insert(t.Context(), store.InsertRequest{Tx: tx.tx, Jobs: noop(1)})
		must(t, err)
		if rememberedBy(b) > before {
			deferred++
		}
		must(t, tx.commit())
		committed[res.Jobs[0].ID] = time.Now()
	}
	close(end)
	breaker.Wait()
	for id, at := range claimer.await(t, slices.Collect(maps.Keys(committed))...) {
		if late := at.Sub(committed[id]); late > 2*wakeLimit {
			t.Errorf("a job was claimed %v after its commit", late)
		}
	}
	if deferred == 0 {
		t.Error("no transaction was remembered")
	}
}

// TestFlushLeavesNothing commits remembered transactions and flushes: all wake-ups have been sent,
// and Close has no more of them to send and leaves no goroutine.
func TestFlushLeavesNothing(t *testing.T) {
	schema := newSchema(t)
	migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
	claimer := newWokenClaimer(t, schema)
	pool := newPool(t)
	b := New(pool, Schema(schema))
	begin := beginIn(pool)
	for range 20 {
		tx, id := rememberedTx(t, b, begin)
		must(t, tx.commit())
		must(t, b.Flush(t.Context()))
		if n := rememberedBy(b); n > 0 {
			t.Errorf("%d transactions are remembered after Flush", n)
		}
		claimer.await(t, id)
	}
	tx, id := rememberedTx(t, b, begin)
	must(t, tx.commit())
	must(t, b.Close())
	claimer.await(t, id)
	tx, _ = rememberedTx(t, New(pool, Schema(schema)), begin) // a Backend that the test leaves open
	awaitThat(t, "the loop of the open Backend to be the only one", func() bool {
		return strings.Count(string(allStacks()), "(*commitWakes).run(") == 1
	})
	must(t, tx.rollback())
	awaitThat(t, "the loop to end", func() bool { return !strings.Contains(string(allStacks()), "(*commitWakes).run(") })
}

func allStacks() []byte {
	buffer := make([]byte, 1<<20)
	return buffer[:runtime.Stack(buffer, true)]
}

// TestNotifyInTxNeedsNoLoop inserts with NotifyInTx in a burst.
func TestNotifyInTxNeedsNoLoop(t *testing.T) {
	schema := newSchema(t)
	migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
	claimer := newWokenClaimer(t, schema)
	pool := newPool(t)
	b := New(pool, Schema(schema))
	t.Cleanup(func() { b.Close() })
	var ids []int64
	for range 50 {
		tx, err := pool.Begin(t.Context())
		must(t, err)
		res, err := b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: noop(1), NotifyInTx: true})
		must(t, err)
		must(t, tx.Commit(t.Context()))
		ids = append(ids, res.Jobs[0].ID)
	}
	claimer.await(t, ids...)
	if loopRuns(b.commitWakes) || claimer.watches() > 0 {
		t.Error("a loop sends the wake-ups of transactions that notify")
	}
}
