package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/lock"
)

// BenchmarkLockCycle has 8 clients that each take and release a lock
// repeatedly. It compares this package with pgbench, with the two bare
// statements that ShedLock would send and with the same statements as this
// package, and with pgx, with the bare statements. Each iteration is a round of
// all of them in turn; the result is the median of the rounds.
func BenchmarkLockCycle(b *testing.B) {
	const clients, duration = 8, 2 * time.Second
	s := fresh(b)
	pool := lockPool(b, clients)
	bare, same := bareScript(b, s), sameScript(b, s)
	locks, byPgx := NewLocks(pool, Table(s.schema+".lock")), bareCycle(pool, bare)
	var ours, pgxs, bares, sames, ratios []float64
	for b.Loop() {
		ours = append(ours, cycles(b, func(client, n int) error { return lockCycle(b.Context(), locks, client, n) }, clients, duration))
		pgxs = append(pgxs, cycles(b, func(client, _ int) error { return byPgx(b.Context(), client) }, clients, duration))
		bares = append(bares, pgbench(b, bare, clients, duration))
		sames = append(sames, pgbench(b, same, clients, duration))
	}
	for i := range ours {
		ratios = append(ratios, ours[i]/bares[i])
	}
	b.ReportMetric(median(ours), "cycles/s")
	b.ReportMetric(median(bares), "bare-cycles/s")
	b.ReportMetric(median(sames), "same-cycles/s")
	b.ReportMetric(median(pgxs), "pgx-cycles/s")
	b.ReportMetric(median(ratios), "of-bare")
	b.ReportMetric(median(ours)/median(pgxs), "of-pgx")
	b.ReportMetric(median(ours)/median(sames), "of-same")
	b.ReportMetric(0, "ns/op")
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func lockPool(b *testing.B, clients int) *pgxpool.Pool {
	config, err := pgxpool.ParseConfig(urlFrom(b, serverVariable))
	must(b, err)
	config.MaxConns = int32(clients)
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	must(b, err)
	b.Cleanup(pool.Close)
	return pool
}

// lockCycle takes a lock and releases the lock.
func lockCycle(ctx context.Context, locks *Locks, client, n int) error {
	lease, err := locks.TryLock(ctx, lock.Request{Name: fmt.Sprint("lock", client), Owner: fmt.Sprint("host/1/", n), Hold: 30 * time.Second})
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}

// bareCycle sends the statements of a pgbench script.
func bareCycle(pool *pgxpool.Pool, script string) func(ctx context.Context, client int) error {
	texts := strings.SplitN(strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(script, ":client_id", "$1::text")), ";"), ";", 2)
	return func(ctx context.Context, client int) error {
		for _, text := range texts {
			if _, err := pool.Exec(ctx, text, strconv.Itoa(client)); err != nil {
				return err
			}
		}
		return nil
	}
}

// cycles returns how many cycles per second the clients run.
func cycles(b *testing.B, cycle func(client, n int) error, clients int, duration time.Duration) float64 {
	ctx, cancel := context.WithTimeout(b.Context(), duration)
	defer cancel()
	var all sync.WaitGroup
	counts := make([]int, clients)
	start := time.Now()
	for i := range clients {
		all.Go(func() {
			for ; ctx.Err() == nil; counts[i]++ {
				if err := cycle(i, counts[i]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(start).Seconds()
}

// bareScript takes and releases a lock with statements for the lock row only.
func bareScript(b *testing.B, s *Backend) string {
	execute(b, withSchema(`create table {schema}.bare (name varchar(64) primary key, lock_until timestamp not null, locked_at timestamp not null, locked_by varchar(255) not null);
		insert into {schema}.bare select 'lock' || i, '2000-01-01', '2000-01-01', '' from generate_series(0, 7) i`, s.schema))
	return withSchema(`
UPDATE {schema}.bare SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + interval '30 seconds', locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = 'host'
WHERE name = 'lock' || :client_id AND lock_until <= timezone('utc', CURRENT_TIMESTAMP);
UPDATE {schema}.bare SET lock_until = timezone('utc', CURRENT_TIMESTAMP)
WHERE name = 'lock' || :client_id AND locked_by = 'host' AND lock_until > timezone('utc', CURRENT_TIMESTAMP);
`, s.schema)
}

// sameScript takes and releases a lock with the statements of this package.
func sameScript(b *testing.B, s *Backend) string {
	locks := s.Locks()
	for i := range 8 { // makes the rows
		_, err := locks.TryLock(b.Context(), lock.Request{Name: fmt.Sprint("same", i), Owner: "o", Hold: time.Millisecond})
		must(b, err)
	}
	values := map[string]string{"name": "'same' || :client_id", "owner": "'host'", "hold": "30000", "patience": "5000", "at_least": "0", "rest": "0", "now": "null"}
	filled := func(name string) string {
		text, parameters := locks.provider.Statement(name)
		text = regexp.MustCompile(`(?m)^--.*\n`).ReplaceAllString(text, "")
		pairs := []string{"hourbell:lock:", "hourbell lock "}
		for i, parameter := range parameters {
			pairs = append(pairs, "$"+strconv.Itoa(i+1), values[parameter])
		}
		return strings.NewReplacer(pairs...).Replace(text) + ";\n"
	}
	return filled("take") + filled("release")
}

// pgbench returns how many times per second its clients run a script.
func pgbench(b *testing.B, script string, clients int, duration time.Duration) float64 {
	program, err := exec.LookPath("pgbench")
	if err != nil {
		b.Skip("pgbench is not installed")
	}
	file := filepath.Join(b.TempDir(), "script.sql")
	must(b, os.WriteFile(file, []byte(script), 0o600))
	config, err := pgx.ParseConfig(urlFrom(b, serverVariable))
	must(b, err)
	cmd := exec.Command(program, "--no-vacuum", "--protocol=prepared", "--client="+strconv.Itoa(clients), "--jobs=2",
		"--time="+strconv.Itoa(int(duration.Seconds())), "--file="+file,
		"--host="+config.Host, "--port="+strconv.Itoa(int(config.Port)), "--username="+config.User, config.Database)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+config.Password)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("pgbench: %v\n%s", err, out)
	}
	found := regexp.MustCompile(`tps = ([0-9.]+)`).FindSubmatch(out)
	if found == nil {
		b.Fatalf("pgbench said\n%s", out)
	}
	tps, err := strconv.ParseFloat(string(found[1]), 64)
	must(b, err)
	return tps
}
