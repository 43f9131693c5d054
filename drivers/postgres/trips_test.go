package postgres

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// trips counts the round trips of all connections that it dials: how often a
// message is sent after an answer was read, or first of all.
type trips struct {
	mu    sync.Mutex
	count int
	conns int
}

func (tr *trips) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.conns++
	return &tripConn{Conn: conn, trips: tr}, nil
}

// taken is how many there were since it was called last, and how many connections
// were made.
func (tr *trips) taken() (count, conns int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	count, conns = tr.count, tr.conns
	tr.count, tr.conns = 0, 0
	return count, conns
}

// tripConn is a connection whose round trips are counted.
type tripConn struct {
	net.Conn
	trips *trips
	asked bool // what was written last has no answer yet; guarded by trips.mu
}

func (c *tripConn) Write(b []byte) (int, error) {
	c.trips.mu.Lock()
	if !c.asked {
		c.asked = true
		c.trips.count++
	}
	c.trips.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *tripConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.trips.mu.Lock()
		c.asked = false
		c.trips.mu.Unlock()
	}
	return n, err
}

// counted opens a migrated backend whose round trips are counted.
func counted(t *testing.T) (*Backend, *trips) {
	t.Helper()
	config, err := pgxpool.ParseConfig(urlFrom(t, serverVariable))
	must(t, err)
	tr := &trips{}
	config.ConnConfig.DialFunc = tr.dial
	config.MaxConns = 1 // so that it is the same connection each time, and prepared
	b, err := open(t.Context(), config, false, []Option{Schema(newSchema(t))})
	must(t, err)
	t.Cleanup(func() { b.Close() })
	migrate(t, b)
	return b, tr
}

// TestRoundTrips counts how often each call waits for the network once its
// statements are prepared, which is the least there can be: over a network of 1 ms
// each round trip costs as much as the work itself.
func TestRoundTrips(t *testing.T) {
	b, tr := counted(t)
	ctx := t.Context()
	node := register(t, b)
	locks := b.Locks()
	var lease lock.Lease
	var claimed []store.Claimed
	finish := func(alter func(o *store.Outcome)) func() {
		return func() {
			var outcomes []store.Outcome
			for _, job := range claimed {
				o := store.Outcome{ID: job.ID, Token: job.Token, Result: store.Completed, Alone: true}
				alter(&o)
				outcomes = append(outcomes, o)
			}
			res, err := b.Finish(ctx, store.FinishRequest{Outcomes: outcomes})
			must(t, err)
			if len(res.Refused) > 0 {
				t.Errorf("refused: %v", res.Refused)
			}
		}
	}
	plain := func(*store.Outcome) {}
	failed := func(o *store.Outcome) { o.Result, o.Error = store.Failed, "no such host" }
	enqueue := func(n int) func() {
		return func() {
			b.insertWakes.wait() // a wake-up that is owed is a message of its own, which nothing waits for
			time.Sleep(notifyGap)
			tr.taken()
			insertN(t, b, n)
		}
	}
	keys := 0
	keyed := func(n int) func() {
		return func() {
			b.insertWakes.wait()
			time.Sleep(notifyGap)
			tr.taken()
			jobs := noop(n)
			for i := range jobs {
				keys++
				jobs[i].Unique = fmt.Sprint(keys)
			}
			_, err := b.Insert(ctx, store.InsertRequest{Jobs: jobs})
			must(t, err)
		}
	}
	claim := func() { claimed = claimN(t, b, node, 1000) }
	const warm, rounds = 5, 12 // the warm-up prepares statements, and measures the cost of a full scan
	steps := []struct {
		name  string
		do    func()
		most  int  // in each round after the warm-up
		scans bool // most need hold in one round only: full and catch-up scans come now and then
		least int  // found so far
	}{
		{name: "enqueue one, its wake-up with it", do: enqueue(1), most: 1},
		{name: "enqueue one with a key", do: keyed(1), most: 1},
		{name: "enqueue many with keys", do: keyed(100), most: 1},
		{name: "claim with keys", do: claim, most: 1, scans: true},
		{name: "finish with keys", do: finish(plain), most: 1},
		{name: "claim", do: claim, most: 1, scans: true},
		{name: "store the result of a step", most: 1, do: func() {
			for _, job := range claimed {
				_, err := b.SaveStep(ctx, store.SaveStepRequest{Token: job.Token, Step: store.Step{Job: job.ID, Name: "s", Place: 1, Value: []byte("1")}})
				must(t, err)
			}
		}},
		{name: "finish one", do: finish(plain), most: 1},
		{name: "enqueue many", do: enqueue(500), most: 1},
		{name: "claim many", do: claim, most: 1, scans: true},
		{name: "finish many", do: finish(plain), most: 1},
		{name: "enqueue one that fails", do: enqueue(1), most: 1},
		{name: "claim one that fails", do: claim, most: 1, scans: true},
		{name: "finish one that has failed", do: finish(failed), most: 6},
		{name: "heartbeat", most: 1, do: func() {
			_, err := b.Heartbeat(ctx, store.HeartbeatRequest{Node: node, EndedBatches: []int64{1}})
			must(t, err)
		}},
		{name: "look for what a node holds", most: 1, do: func() {
			_, err := b.Claims(ctx, store.ClaimsRequest{Node: node})
			must(t, err)
		}},
		{name: "look for due schedules", most: 1, do: func() {
			_, err := b.DueSchedules(ctx, store.DueSchedulesRequest{Limit: 10})
			must(t, err)
		}},
		{name: "lock", most: 1, do: func() {
			var err error
			lease, err = locks.TryLock(ctx, lock.Request{Name: "a", Owner: "o", Hold: time.Minute})
			must(t, err)
		}},
		{name: "extend", most: 1, do: func() { must(t, lease.Extend(ctx, time.Minute)) }},
		{name: "unlock", most: 1, do: func() { must(t, lease.Release(ctx)) }},
	}
	for round := range rounds {
		for i := range steps {
			step := &steps[i]
			b.catchUps.Wait() // catch-up scans, which no claim waits for
			tr.taken()
			step.do()
			b.catchUps.Wait()
			got, conns := tr.taken()
			if round < warm {
				continue
			}
			if conns > 0 || got > step.most && !step.scans {
				t.Errorf("%s: %d round trips and %d new connections, want at most %d and none", step.name, got, conns, step.most)
			}
			if round == warm || got < step.least {
				step.least = got
			}
		}
	}
	for _, step := range steps {
		if step.least > step.most {
			t.Errorf("%s: %d round trips in the best of %d rounds, want at most %d", step.name, step.least, rounds-warm, step.most)
		}
	}
}

// TestRoundTripsOfFiring is TestRoundTrips for the slots of some schedules that are
// due: also of schedules whose jobs have not started.
func TestRoundTripsOfFiring(t *testing.T) {
	b, tr := counted(t)
	rows := planned(t, b, 100)
	for round := range 5 {
		at := firstNow.Add(time.Duration(round+1) * time.Minute)
		firings, skips := ringing(rows), round >= 3
		tr.taken()
		res := fire(t, b, at, firings)
		if len(res.Fired)+len(res.Slots) != len(rows) || len(res.Slots) > 0 != skips {
			t.Fatalf("%d of %d slots fired, and %d were skipped", len(res.Fired), len(rows), len(res.Slots))
		}
		most := 5
		if skips {
			most = 7 // what delays the jobs, and how many slots have not fired
		}
		if got, _ := tr.taken(); round != 0 && round != 3 && got > most { // statements are prepared in the first rounds
			t.Errorf("round %d: accounting for %d slots took %d round trips, want at most %d", round, len(rows), got, most)
		}
		if rows = dueAt(t, b, at.Add(time.Minute)); round < 2 {
			execute(t, withSchema("delete from {schema}.job", b.schema))
		}
	}
}

// TestAWakeUpIsPushed counts no round trip between the commit of an insert and the
// wake-up.
func TestAWakeUpIsPushed(t *testing.T) {
	b, tr := counted(t)
	other := openAt(t, urlFrom(t, serverVariable), b.schema)
	wakes, _ := listening(t, b)
	for range 10 {
		time.Sleep(notifyGap)
		tr.taken()
		insertN(t, other, 1)
		wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "q"})
		if got, _ := tr.taken(); got > 0 {
			t.Errorf("the listener made %d round trips for a wake-up", got)
		}
	}
}

// late is a connection whose answers come later.
type late struct {
	net.Conn
	by time.Duration
}

func (c late) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	time.Sleep(c.by)
	return n, err
}

// TestTheRoundTripIsKnown looks how far away a backend takes its server for.
func TestTheRoundTripIsKnown(t *testing.T) {
	const by = 5 * time.Millisecond
	config, err := pgxpool.ParseConfig(urlFrom(t, serverVariable))
	must(t, err)
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, addr)
		return late{conn, by}, err
	}
	b, err := open(t.Context(), config, false, nil)
	must(t, err)
	defer b.Close()
	if got := store.RoundTrip(b); got < by {
		t.Errorf("a round trip of a server whose answers take %v or more is %v", by, got)
	}
	b.seen(store.FarAway)
	b.seen(time.Hour)
	if got := store.RoundTrip(b); got != store.FarAway {
		t.Errorf("the shortest round trip was %v, and it is %v", store.FarAway, got)
	}
	b.seen(store.FarAway - 1)
	if got := store.RoundTrip(b); got != 0 {
		t.Errorf("a server nearby counts as %v away", got)
	}
}
