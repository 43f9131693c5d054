package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/testserver"
)

// startScarce starts a server that takes ten connections.
func startScarce(t *testing.T) (url string) {
	t.Helper()
	return startServer(t, testserver.New(t), nil, "max_connections=10", "superuser_reserved_connections=0")
}

// Six nodes begin at once on a server that takes ten connections, and their jobs
// want all of these. A node that begins lives on: it keeps the connection of its
// heartbeats. A node that cannot begin returns the reason.
func TestNodesOnAServerWithTenConnections(t *testing.T) {
	t.Parallel()
	const nodes, lease = 6, 10 * time.Second
	url := startScarce(t)
	first := openAt(t, url, DefaultSchema)
	migrate(t, first)
	enqueuer, err := hourbell.New(first, hourbell.Config{NoMigrate: true})
	must(t, err)
	jobs := make([]hourbell.Request, 200)
	for i := range jobs {
		jobs[i].Args = holder{}
	}
	_, err = enqueuer.EnqueueMany(t.Context(), jobs, hourbell.In(4*time.Second)) // later the nodes may hold all connections
	must(t, err)
	must(t, first.Close())
	var completed, refused atomic.Int32
	ended := make(chan error, nodes)
	clients := make([]*hourbell.Client, nodes)
	for i := range clients {
		pool := poolOf(t, url, 4)
		b := New(pool)
		t.Cleanup(func() { b.Close() })
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[holder]) error {
			_, err := pool.Exec(ctx, "select pg_sleep(0.5)")
			if codeOf(err) == "53300" {
				refused.Add(1)
			}
			return err
		})
		client, err := hourbell.New(b, hourbell.Config{
			Name: fmt.Sprint("node ", i), Workers: workers, Queues: map[string]int{"default": 10}, Lease: lease, NoMigrate: true,
			Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
		must(t, err)
		clients[i] = client
		go func() { ended <- client.Run(context.Background()) }()
	}
	began := func() (n int) {
		for _, client := range clients {
			n += int(client.Events.Counts()[event.NodeStarted])
		}
		return n
	}
	running := nodes
	for deadline := time.Now().Add(3 * time.Minute); began() < running; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-ended:
			running--
			if !strings.Contains(fmt.Sprint(err), "no connection left; raise its max_connections") {
				t.Errorf("a node that could not begin says: %v", err)
			}
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d nodes have begun", began(), running)
		}
	}
	if running == 0 { // how many get the connections that they need to begin is chance: two to six
		t.Error("no node has begun")
	}
	t.Logf("%d nodes have begun", running)
	for end := time.Now().Add(2 * lease); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		completed.Store(0)
		for i, client := range clients {
			counts := client.Events.Counts()
			completed.Add(int32(counts[event.JobCompleted]))
			if counts[event.LeaseLost] > 0 || counts[event.NodeDied] > 0 {
				t.Fatalf("node %d lost its lease %d times and saw %d nodes die", i, counts[event.LeaseLost], counts[event.NodeDied])
			}
		}
	}
	t.Logf("%d runs have completed, %d got no connection", completed.Load(), refused.Load())
	for _, client := range clients {
		client.Stop(context.Background())
	}
	for range running {
		<-ended
	}
}

// A heartbeat that gets no connection from the server is told with the remedy, and
// so is the loss of the lease.
func TestALostHeartbeatNamesItsCause(t *testing.T) {
	t.Parallel()
	url := startScarce(t)
	b := openAt(t, url, DefaultSchema)
	migrate(t, b)
	client, err := hourbell.New(b, hourbell.Config{Lease: 2 * time.Second, NoMigrate: true, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	events, unsubscribe := client.Events.Subscribe(10_000, event.Selection{}, event.Selection{Kinds: []event.Kind{event.Step}})
	defer unsubscribe()
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	var hogs []*pgx.Conn
	timeout := time.After(time.Minute)
	for failed, lost := false, false; !failed || !lost; {
		select {
		case e := <-events:
			switch {
			case e.Kind == event.Step && e.Detail == "heartbeat" && hogs == nil:
				hogs = crowdOut(t, url)
			case (e.Kind == event.StoreFailed || e.Kind == event.StoreRetried) && e.Detail == "heartbeat":
				failed = failed || strings.Contains(e.Err.Error(), "no connection left; raise its max_connections")
			case e.Kind == event.LeaseLost:
				if lost = strings.Contains(e.Detail, "no connection left; raise its max_connections"); !lost {
					t.Fatalf("the lease was lost: %s", e.Detail)
				}
			}
		case <-timeout:
			t.Fatalf("failed heartbeat told: %v, lost lease: %v", failed, lost)
		}
	}
	for _, hog := range hogs {
		hog.Close(context.Background())
	}
	must(t, client.Stop(context.Background()))
	<-ended
}

// crowdOut takes all connections of a server, also those that others have.
func crowdOut(t *testing.T, url string) (hogs []*pgx.Conn) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(hogs) < 10; {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections were had", len(hogs))
		}
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			hogs = append(hogs, conn)
			continue
		}
		if len(hogs) == 0 {
			continue
		}
		var pids []int
		for _, hog := range hogs {
			pids = append(pids, int(hog.PgConn().PID()))
		}
		_, err = hogs[0].Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> all($1) limit 1", pids)
		must(t, err)
	}
	return hogs
}
