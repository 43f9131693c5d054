package postgres

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
)

// line is a TCP proxy before the server that can fall silent: connections stay
// open, and nothing comes through any more.
type line struct {
	net.Listener
	target string
	url    string // of the server by this line

	mu    sync.Mutex
	loud  *atomic.Bool // of the connections that come
	conns []net.Conn
	over  chan struct{} // closed when all connections are
	end   sync.Once
}

func newLine(t *testing.T, server string) *line {
	t.Helper()
	u, err := url.Parse(server)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l := &line{Listener: listener, target: u.Host, loud: &atomic.Bool{}, over: make(chan struct{})}
	l.loud.Store(true)
	u.Host = listener.Addr().String()
	l.url = u.String()
	go l.serve()
	t.Cleanup(l.hangUp)
	return l
}

func (l *line) serve() {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.target)
		if err != nil {
			near.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, near, far)
		loud := l.loud
		l.mu.Unlock()
		go l.carry(near, far, loud)
		go l.carry(far, near, loud)
	}
}

// carry copies bytes while they are let through.
func (l *line) carry(from, to net.Conn, loud *atomic.Bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !loud.Load() {
			<-l.over
			return
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// silence lets nothing through any more; others: but on connections that come.
func (l *line) silence(others bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loud.Store(false)
	if others {
		l.loud = &atomic.Bool{}
		l.loud.Store(true)
	}
}

// hangUp closes all connections, and takes no more.
func (l *line) hangUp() {
	l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		conn.Close()
	}
	l.end.Do(func() { close(l.over) })
}

// Every call of a client ends by itself, though its context has no end and the
// connection is silent. Where the call may have happened, the error says so.
func TestCallsEndOnASilentConnection(t *testing.T) {
	ctx := context.Background()
	schedule := hourbell.Schedule{Name: "s", Rule: recur.Spec{Cron: "0 0 1 1 *"}, Job: hourbell.RawArgs{Name: "k"}}
	for name, one := range map[string]struct {
		writes bool // in one message that commits by itself
		call   func(c *hourbell.Client) error
	}{
		"Enqueue": {true, func(c *hourbell.Client) error { _, err := c.Enqueue(ctx, note{}); return err }},
		"Enqueue, Unique": {true, func(c *hourbell.Client) error {
			_, err := c.Enqueue(ctx, note{}, hourbell.Unique("key"))
			return err
		}},
		"EnqueueMany": {true, func(c *hourbell.Client) error {
			_, err := c.EnqueueMany(ctx, []hourbell.Request{{Args: note{}}, {Args: note{}}})
			return err
		}},
		"PutSchedule": {false, func(c *hourbell.Client) error { _, err := c.Schedules.Put(ctx, schedule); return err }},
		"Sync": {false, func(c *hourbell.Client) error {
			_, err := c.Schedules.Sync(ctx, "o", 0, []hourbell.Schedule{schedule})
			return err
		}},
		"Jobs": {false, func(c *hourbell.Client) error { _, err := c.Jobs.List(ctx, hourbell.JobFilter{}); return err }},
		"Cancel": {false, func(c *hourbell.Client) error {
			_, err := c.Jobs.Cancel(ctx, hourbell.JobFilter{IDs: []int64{1}})
			return err
		}},
		"Now":     {false, func(c *hourbell.Client) error { _, err := c.Now(ctx); return err }},
		"Migrate": {false, func(c *hourbell.Client) error { return c.Migrate(ctx) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := newSchema(t)
			migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
			l := newLine(t, urlFrom(t, serverVariable))
			b, err := Open(t.Context(), l.url, Schema(schema))
			must(t, err)
			defer b.Close()
			defer l.hangUp() // first, for Close waits for what hangs
			client, err := hourbell.New(b, hourbell.Config{CallTimeout: 200 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
			must(t, err)
			insertN(t, b, 1) // there is a connection
			l.silence(false)
			ended := make(chan error, 1)
			go func() { ended <- one.call(client) }()
			select {
			case err = <-ended:
			case <-time.After(30 * time.Second):
				t.Fatal("the call has not ended")
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the call ended with: %v", err)
			}
			if one.writes && !errors.Is(err, hourbell.ErrUnknown) {
				t.Errorf("it may have happened, and the error does not say so: %v", err)
			}
		})
	}
}

// A call that waits for a connection in vain has not happened, and its error has the reason.
func TestCallsEndWithoutAConnection(t *testing.T) {
	url, schema := urlFrom(t, serverVariable), newSchema(t)
	migrate(t, openAt(t, url, schema))
	pool := poolOf(t, url, 1)
	b := New(pool, Schema(schema))
	defer b.Close()
	client, err := hourbell.New(b, hourbell.Config{CallTimeout: 200 * time.Millisecond})
	must(t, err)
	conn, err := pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	_, err = client.Enqueue(context.Background(), note{})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, hourbell.ErrUnknown) {
		t.Errorf("the call ended with: %v", err)
	}
	for _, text := range []string{"no answer within 200ms", "no connection from the pool in ", "1 in use by handlers", "pool_max_conns"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error lacks %q: %v", text, err)
		}
	}
}

// A call in the caller's transaction has no bound but the caller's context.
func TestCallsInATransactionEndWithTheirContext(t *testing.T) {
	url, schema := urlFrom(t, serverVariable), newSchema(t)
	b := openAt(t, url, schema)
	migrate(t, b)
	client, err := hourbell.New(b, hourbell.Config{CallTimeout: 50 * time.Millisecond})
	must(t, err)
	pool := poolOf(t, url, 2)
	blocker, err := pool.Begin(t.Context())
	must(t, err)
	_, err = client.Enqueue(t.Context(), note{}, hourbell.Unique("key"), hourbell.InTx(Tx(blocker)))
	must(t, err)
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.Background())
	time.AfterFunc(500*time.Millisecond, func() { blocker.Rollback(context.Background()) })
	_, err = client.Enqueue(t.Context(), note{}, hourbell.Unique("key"), hourbell.InTx(Tx(tx)))
	must(t, err)
}

// A connection of the node's heartbeats falls silent, and others get through: the
// next heartbeat takes another one, and no lease is lost.
func TestASilentHeartbeatLosesNoLease(t *testing.T) {
	url, schema := urlFrom(t, serverVariable), newSchema(t)
	migrate(t, openAt(t, url, schema))
	l := newLine(t, url)
	b, err := Open(t.Context(), l.url, Schema(schema))
	must(t, err)
	client, err := hourbell.New(b, hourbell.Config{Lease: 6 * time.Second, Heartbeat: time.Second, NoMigrate: true, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	must(t, err)
	events, unsubscribe := client.Events.Subscribe(10_000, event.Selection{}, event.Selection{Kinds: []event.Kind{event.Step}})
	defer unsubscribe()
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	defer func() {
		l.hangUp()
		client.Stop(context.Background())
		<-ended
		b.Close()
	}()
	timeout := time.After(time.Minute)
	for beats := 0; beats < 4; {
		select {
		case e := <-events:
			switch {
			case e.Kind == event.LeaseLost:
				t.Fatalf("%s: %s", e.Kind, e.Detail)
			case e.Kind == event.Step && e.Detail == "heartbeat":
				if beats++; beats == 1 {
					l.silence(true)
				}
			}
		case <-timeout:
			t.Fatal("no heartbeat gets through")
		}
	}
}
