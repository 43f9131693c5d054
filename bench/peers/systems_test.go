package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/jackc/pgx/v5/pgxpool"
)

// TestMain also runs as the program of the child processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		child.Main(open)
		return
	}
	os.Exit(m.Run())
}

// TestSteps checks that jobs take steps, and insert the rows of steps, on each store.
func TestSteps(t *testing.T) {
	b := testBench(t)
	for _, on := range stepStores {
		for _, mode := range []string{"", modeBare} {
			t.Run(on.name+mode, func(t *testing.T) {
				t.Parallel()
				d := on.drain
				d.jobs, d.steps, d.until, d.mode = 2, 50, 100, mode
				m, err := b.drain(t.Context(), d)
				if err != nil || m["done"] != 100 || m["cut"] != 0 {
					t.Errorf("100 steps gave %v, %v", m, err)
				}
			})
		}
	}
}

// testBench returns a bench on the servers of the test, with a delay.
func testBench(t *testing.T) *bench {
	t.Helper()
	url := os.Getenv("HOURBELL_TEST_POSTGRES_URL")
	if url == "" {
		if os.Getenv("HOURBELL_TEST_REQUIRE") != "" {
			t.Fatal("HOURBELL_TEST_POSTGRES_URL is not set")
		}
		t.Skip("HOURBELL_TEST_POSTGRES_URL is not set; make servers starts a server")
	}
	admin, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{admin: admin, self: self, dir: t.TempDir(), env: env{url: url, limit: 30 * time.Second, inserts: 20, delay: 500 * time.Microsecond}}
	if err := b.findProxy(); err != nil {
		t.Fatal(err)
	}
	if b.mysql, err = connectMySQL(t.Context(), os.Getenv("HOURBELL_TEST_MYSQL_URL")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.mysql.close)
	t.Cleanup(func() { b.proxy.Close() })
	return b
}

// TestSystems lets each of the systems in Go work a few jobs, to ensure that a
// long benchmark run will not fail.
func TestSystems(t *testing.T) {
	b := testBench(t)
	for _, d := range []drain{
		{system: "hourbell", processes: 2, dead: 100},
		{system: "hourbell", order: child.Priority4},
		{system: "hourbell", order: child.Scattered},
		{system: "hourbell", mode: historyNone, ownTx: true, workers: txWorkers},
		{system: "hourbell", mode: modeMiddleware},
		{system: "hourbell", edges: child.Chains2, processes: 2, lockWaits: true},
		{system: "hourbell", edges: child.Chains10},
		{system: "hourbell", edges: child.FanIn},
		{system: "hourbell", edges: child.FanOut},
		{system: "hourbell", edges: child.Batches},
		{system: "hourbell", edges: child.Random3},
		{system: "hourbell", limit: child.QueueWide},
		{system: "hourbell", limit: child.Queue100, processes: 2},
		{system: "hourbell", limit: child.KeysOfOne},
		{system: "hourbell", limit: child.Windows, processes: 2, lockWaits: true},
		{system: "hourbell", limit: child.OneKey, held: true},
		{system: "river"},
		{system: "river", ownTx: true, workers: txWorkers},
		{system: "gue"},
		{system: "hourbell", synchronous: "NORMAL"},
		{system: oursOnMySQL, processes: 2, dead: 100},
		{system: oursOnMySQL, later: 100, until: 200},
		{system: oursOnMySQL, parked: 100, until: 200},
		{system: "hourbell", parked: 100, until: 200},
		{system: "hourbell", synchronous: "FULL", parked: 100, until: 200},
		{system: bareOnMySQL},
		{system: "backlite", synchronous: "NORMAL"},
		{system: "goqite", synchronous: "NORMAL"},
	} {
		t.Run(fmt.Sprint(d.system, d.synchronous, d.order, d.edges, d.limit, d.mode, d.ownTx, d.parked), func(t *testing.T) {
			t.Parallel()
			d.jobs = 200
			m, err := b.drain(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if m["done"] != 200 || m["cut"] != 0 || m[rate] <= 0 {
				t.Errorf("drain of 200 jobs gave %v", m)
			}
			m, err = b.insert(t.Context(), named(d.system), child.Request{Clients: 2, Synchronous: d.synchronous, InTx: d.system == "river"}, false)
			if err != nil || m[rate] <= 0 {
				t.Errorf("inserting 20 jobs gave %v, %v", m, err)
			}
		})
	}
}
