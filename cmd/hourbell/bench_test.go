package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/measure"
)

// places lists the files in the directory of a SQLite store, or the schemas of
// bench in PostgreSQL.
func (b *bench) places() []string {
	b.t.Helper()
	store := b.env[storeVariable]
	var names []string
	if strings.HasPrefix(store, "sqlite:") {
		entries, err := os.ReadDir(filepath.Dir(b.path))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	b.admin(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `select coalesce(array_agg(nspname::text order by 1), '{}') from pg_namespace where nspname like 'hourbell\_bench\_%'`).Scan(&names)
	})
	return names
}

// admin executes do on the test server.
func (b *bench) admin(do func(ctx context.Context, conn *pgx.Conn) error) {
	b.t.Helper()
	ctx := context.Background() // works also when the test has ended
	conn, err := pgx.Connect(ctx, postgresURL(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := do(ctx, conn); err != nil {
		b.t.Error(err)
	}
}

// eachStore runs a test on SQLite and on PostgreSQL.
func eachStore(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newBench(t)) })
	t.Run("postgres", func(t *testing.T) {
		b := newBench(t)
		b.env[storeVariable] = postgresURL(t)
		test(t, b)
	})
}

func TestBench(t *testing.T) {
	eachStore(t, func(t *testing.T, b *bench) {
		measured := map[string]map[string]any{}
		for _, r := range b.objects("bench", "--jobs", "20", "--seconds", "10") {
			measured[fmt.Sprint(r["measured"])] = r
		}
		for name, paced := range map[string]bool{"enqueue_single": false, "enqueue_gathered": false, "enqueue_many": false, "drain": false, "latency": true} {
			r := measured[name]
			jobs, _ := r["jobs"].(float64)
			if claimedMore := name == "drain" && jobs > 20 && jobs <= 60; jobs != 20 && !claimedMore {
				t.Errorf("%s: %v", name, r)
			}
			if rate, _ := r["per_second"].(float64); (rate > 0) == paced {
				t.Errorf("%s: %v a second", name, r["per_second"])
			}
			p50, _ := r["p50_ms"].(float64)
			p99, _ := r["p99_ms"].(float64)
			if name != "drain" && (p50 <= 0 || p99 < p50) {
				t.Errorf("%s: p50 %v, p99 %v", name, p50, p99)
			}
		}
		if settings := fmt.Sprint(measured["drain"]["settings"]); !strings.Contains(settings, "synchronous") {
			t.Errorf("settings: %s", settings)
		}
		if left := b.places(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestBenchTable(t *testing.T) {
	b := newBench(t)
	out := b.ok("bench", "--jobs", "1", "--seconds", "4")
	for _, text := range []string{"MEASURED", "enqueue, 1000 at the same time", "drain by one node", " ms\n", "synchronous FULL"} {
		if !strings.Contains(out, text) {
			t.Errorf("the table lacks %q:\n%s", text, out)
		}
	}
}

func TestBenchInterrupted(t *testing.T) {
	startsProcesses(t)
	eachStore(t, func(t *testing.T, b *bench) {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			p := b.start("bench", "--seconds", "600", "--jobs", "10000000")
			eventually(t, "bench has begun", func() bool { return len(b.places()) > 0 })
			p.signal(s)
			if code := p.ends(); code != exitFailed || !strings.Contains(p.logged(), "ended early") {
				t.Errorf("%v: exit code %d, %q", s, code, p.logged())
			}
			if left := b.places(); len(left) > 0 {
				t.Errorf("%v: left: %v", s, left)
			}
		}
	})
}

// TestBenchRemovesWhatAKilledRunLeft checks that places whose latest end has
// passed are removed, and that other places stay and are named.
func TestBenchRemovesWhatAKilledRunLeft(t *testing.T) {
	old, used := measure.NewName(time.Now().Add(-time.Second)), measure.NewName(time.Now().Add(time.Hour))
	eachStore(t, func(t *testing.T, b *bench) {
		gone, stay := []string{old}, []string{used, "hourbell_bench_notes"}
		if b.env[storeVariable] == "sqlite:"+b.path {
			gone = []string{old + ".db", old + ".db-wal", old + ".db-shm"}
			stay = []string{used + ".db", "store.db", old + ".dbx", "x" + old + ".db"}
			for _, name := range slices.Concat(gone, stay) {
				writeFile(t, name, "")
			}
		} else {
			for _, name := range slices.Concat(gone, stay) {
				b.admin(func(ctx context.Context, conn *pgx.Conn) error {
					_, err := conn.Exec(ctx, "create schema "+name)
					return err
				})
			}
			t.Cleanup(func() {
				for _, name := range stay {
					dropSchema(t, postgresURL(t), name)
				}
			})
		}
		r := b.run("bench", "--jobs", "1", "--seconds", "4")
		if r.code != exitDone || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, used) {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
		slices.Sort(stay)
		if left := slices.Sorted(slices.Values(b.places())); !slices.Equal(left, stay) { // the order of a database depends on its locale
			t.Errorf("there are %v, want %v", left, stay)
		}
	})
}

func TestProgressBar(t *testing.T) {
	var terminal bytes.Buffer
	on, off := &bar{out: &terminal, steps: 5}, (&program{stderr: &terminal}).newBar(5)
	for _, b := range []*bar{off, on} {
		b.show("drain", 2.5)
		b.clear()
	}
	const half = "███████████████░░░░░░░░░░░░░░░"
	equal(t, "the bar, on a terminal alone", terminal.String(), "\r\x1b[K"+half+" drain\r\x1b[K")
}

func TestBenchRefuses(t *testing.T) {
	b := newBench(t)
	b.fails(exitUsage, []string{"jobs", "1 to 10000000"}, "bench", "--jobs", "0")
	b.fails(exitUsage, []string{"seconds", "1 to 3600"}, "bench", "--seconds", "4000")
	b.fails(exitUsage, []string{"no-migrate", "leave it out"}, "bench", "--no-migrate")
	b.fails(exitUsage, []string{"argument"}, "bench", "more")
	b.fails(exitFailed, []string{"no folder"}, "bench", "--store", "sqlite:no/such/folder.db")
	if left := b.places(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestBenchWithoutRights(t *testing.T) {
	b := newBench(t)
	role, password := "cli_"+strings.ToLower(rand.Text()[:10]), rand.Text()
	b.admin(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "create role "+role+" login password '"+password+"'")
		return err
	})
	t.Cleanup(func() {
		b.admin(func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "drop role "+role)
			return err
		})
	})
	store, err := url.Parse(postgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	store.User = url.UserPassword(role, password)
	r := b.fails(exitFailed, []string{role, "grant it CREATE"}, "bench", "--store", store.String())
	if strings.Contains(r.err, password) {
		t.Errorf("the password is told: %q", r.err)
	}
}
