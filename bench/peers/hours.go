package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/drivers/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver pgx
)

// steady is a row of the cell "hours": jobs are inserted at a steady rate, and worked.
type steady struct {
	system string
	rate   int           // jobs a second
	batch  int           // jobs a call
	held   bool          // another session holds a snapshot from before the first job
	lasts  time.Duration // how long jobs are inserted
}

// Columns of the cell "hours".
const (
	startsFirst = "p99 ms, first"
	startsLast  = "p99 ms, last"
	startsRatio = "last / first"
	looksBefore = "look-up µs before"
	looksWhile  = "look-up µs"
	deadMost    = "dead rows, at most"
	sizeBefore  = "MB before"
	sizeMost    = "MB at most"
	sizeAfter   = "MB after"
	vacuumShare = "autovacuum, % of server CPU"
)

// parts is how many periods a row has: latencies, look-ups and sizes are read for each of them.
const parts = 60

// bystanders are the rows of the table of another program in the same database.
const bystanders = 100_000

// hoursCell measures whether anything grows while jobs come and go for hours. Finished jobs are kept for a twelfth of the time.
func (b *bench) hoursCell() cell {
	long := time.Duration(b.env.hourSec) * time.Second
	of := func(name string, s steady) row {
		return row{name, func(ctx context.Context) (metrics, error) { return b.hours(ctx, name, s) }}
	}
	return cell{
		name: "hours", title: fmt.Sprintf("Jobs at a steady rate for %v: start delays of the first and the last twelfth, look-ups by primary key in another table of the "+
			"database, and the size of the database before, at most, and after a twelfth of the time without new jobs and without the snapshot", long),
		metrics: []string{startsFirst, startsLast, startsRatio, looksBefore, looksWhile, deadMost, sizeBefore, sizeMost, sizeAfter, vacuumShare, "jobs/s", "server µs", "WAL B"},
		once:    true, named: true,
		rows: []row{
			of("PostgreSQL, 1,000 a second, under an old snapshot", steady{"hourbell", 1000, 10, true, long}),
			of("MariaDB, 1,000 a second, under an old snapshot", steady{oursOnMySQL, 1000, 10, true, long}),
			of("PostgreSQL, 10,000 a second", steady{"hourbell", 10_000, 100, false, long / 2}),
		},
	}
}

func hoursGoals() (goals []goal) {
	for _, row := range []string{"PostgreSQL, 1,000 a second, under an old snapshot", "MariaDB, 1,000 a second, under an old snapshot"} {
		goals = append(goals, goal{text: row + ": start p99 of the last twelfth, compared with the first", cell: "hours", row: row, metric: startsRatio, most: 2})
	}
	return goals
}

// hours is a row of the cell "hours". It prints a line for each part.
func (b *bench) hours(ctx context.Context, name string, s steady) (metrics, error) {
	system := named(s.system)
	db, err := b.createFor(ctx, system, "")
	if err != nil {
		return nil, err
	}
	defer db.drop()
	part := s.lasts / parts
	req := child.Request{Do: child.Work, Rate: s.rate, Keep: int(s.lasts.Seconds() / 12), Every: int(part.Milliseconds())}
	node, err := b.node(ctx, system, db.measured(req, false), 3*time.Second)
	if err != nil {
		return nil, err
	}
	defer node.end()
	progress := follow(node)
	watch, err := b.watch(ctx, db)
	if err != nil {
		return nil, err
	}
	defer watch.close()
	before, err := watch.lookUp(ctx, part)
	if err != nil {
		return nil, err
	}
	size, err := watch.size(ctx)
	if err != nil {
		return nil, err
	}
	release := func() {}
	if s.held {
		if release, err = holdSnapshot(ctx, db); err != nil {
			return nil, err
		}
	}
	release = sync.OnceFunc(release)
	defer release()

	meter, err := b.beginOn(ctx, db, node.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	inserts, err := b.start(ctx, system, db.measured(child.Request{
		Do: child.Insert, Rate: s.rate, Batch: s.batch, Clients: 4, Connections: 4, Jobs: s.rate * int(s.lasts.Seconds()),
	}, false))
	if err != nil {
		return nil, err
	}
	defer inserts.end()
	if err := inserts.begin(); err != nil {
		return nil, err
	}
	began := time.Now()
	out := metrics{sizeBefore: size.bytes / 1e6, looksBefore: before}
	var looks, p99 []float64
	for i := range parts {
		took, err := watch.lookUp(ctx, time.Until(began.Add(time.Duration(i+1)*part)))
		if err != nil {
			return nil, err
		}
		now, err := watch.size(ctx)
		if err != nil {
			return nil, err
		}
		starts, err := progress.part(ctx)
		if err != nil {
			return nil, err
		}
		looks, p99 = append(looks, took), append(p99, starts.P99)
		out[deadMost], out[sizeMost] = max(out[deadMost], now.dead), max(out[sizeMost], now.bytes/1e6)
		fmt.Fprintf(os.Stderr, "hours: %s: %v: %d jobs started, delay p50 %.1f ms, p99 %.1f ms, max %.0f ms; look-up %.0f µs; %.0f dead rows; %.0f MB\n",
			name, time.Duration(i+1)*part, starts.Part, starts.P50, starts.P99, starts.Max, took, now.dead, now.bytes/1e6)
	}
	vacuum := watch.autovacuum()
	sent, err := inserts.final()
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(b.env.limit); progress.ended.Load() < int64(sent.Ended) && time.Now().Before(deadline); {
		if err := rest(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
	ended := int(progress.ended.Load())
	cost, err := meter.end(ctx, ended, time.Since(began), 0)
	if err != nil {
		return nil, err
	}
	release()
	if err := rest(ctx, s.lasts/12); err != nil {
		return nil, err
	}
	if size, err = watch.size(ctx); err != nil {
		return nil, err
	}
	twelfth := parts / 12
	out[startsFirst], out[startsLast] = median(p99[:twelfth]), median(p99[len(p99)-twelfth:])
	out[startsRatio], out[looksWhile], out[sizeAfter] = out[startsLast]/out[startsFirst], median(looks), size.bytes/1e6
	out[vacuumShare] = 100 * micros(vacuum) / (cost["server µs"] * float64(ended))
	for _, name := range []string{rate, "server µs", "WAL B"} {
		out[name] = cost[name]
	}
	if ended < sent.Ended {
		return nil, fmt.Errorf("%d of %d jobs had started at the end", ended, sent.Ended)
	}
	return out, nil
}

// progress is what a node reports.
type progress struct {
	ended atomic.Int64
	parts chan child.Event
}

// follow reads the events of a node until it ends.
func follow(node *process) *progress {
	p := &progress{parts: make(chan child.Event, 3*parts)}
	go func() {
		defer close(p.parts)
		for e := range node.events {
			if e.Part > 0 {
				p.parts <- e
			} else {
				p.ended.Store(int64(e.Ended))
			}
		}
	}()
	return p
}

// part returns the start delays of the next part in which jobs started.
func (p *progress) part(ctx context.Context) (child.Event, error) {
	select {
	case e, open := <-p.parts:
		if !open {
			return e, errors.New("the node has ended")
		}
		return e, nil
	case <-ctx.Done():
		return child.Event{}, ctx.Err()
	}
}

// watcher looks at a database from another connection.
type watcher struct {
	db     *sql.DB
	mysql  bool
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	vacuum map[int]time.Duration // CPU time of each autovacuum worker
}

// watch makes the table of bystanders, and begins to count the CPU time of autovacuum.
func (b *bench) watch(ctx context.Context, db database) (*watcher, error) {
	w := &watcher{mysql: db.mysql, vacuum: map[int]time.Duration{}}
	var err error
	if db.mysql {
		w.db, err = mysql.OpenDB(db.url)
	} else {
		w.db, err = sql.Open("pgx", db.url)
	}
	if err != nil {
		return nil, err
	}
	if err := w.makeBystanders(ctx); err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	ctx, w.cancel = context.WithCancel(ctx)
	if !db.mysql {
		w.wg.Go(func() { w.followAutovacuum(ctx, b) })
	}
	return w, nil
}

func (w *watcher) close() {
	w.cancel()
	w.wg.Wait()
	_ = w.db.Close()
}

func (w *watcher) makeBystanders(ctx context.Context) error {
	if _, err := w.db.ExecContext(ctx, "CREATE TABLE bystander (id bigint PRIMARY KEY, text varchar(100) NOT NULL)"); err != nil {
		return err
	}
	const portion = 1000
	for first := 0; first < bystanders; first += portion {
		rows := make([]string, portion)
		for i := range rows {
			rows[i] = fmt.Sprintf("(%d, 'the quick brown fox')", first+i)
		}
		if _, err := w.db.ExecContext(ctx, "INSERT INTO bystander (id, text) VALUES "+strings.Join(rows, ", ")); err != nil {
			return err
		}
	}
	return nil
}

// lookUp looks bystanders up, a hundred a second, and returns the median time of a look-up in microseconds.
func (w *watcher) lookUp(ctx context.Context, d time.Duration) (float64, error) {
	query := "SELECT text FROM bystander WHERE id = $1"
	if w.mysql {
		query = "SELECT text FROM bystander WHERE id = ?"
	}
	prepared, err := w.db.PrepareContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer prepared.Close()
	var took []float64
	for end := time.Now().Add(d); len(took) == 0 || time.Now().Before(end); {
		var text string
		began := time.Now()
		if err := prepared.QueryRowContext(ctx, rand.N(bystanders)).Scan(&text); err != nil {
			return 0, err
		}
		took = append(took, micros(time.Since(began)))
		if err := rest(ctx, 10*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return median(took), nil
}

// size is how large a database is.
type size struct {
	bytes float64
	dead  float64 // rows that the database has not removed yet; of MySQL, transactions whose rows are kept for older snapshots
}

func (w *watcher) size(ctx context.Context) (s size, err error) {
	query := "SELECT pg_database_size(current_database()), (SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables)"
	if w.mysql {
		query = "SELECT (SELECT coalesce(sum(file_size), 0) FROM information_schema.innodb_sys_tablespaces), " +
			"(SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len')"
	}
	err = w.db.QueryRowContext(ctx, query).Scan(&s.bytes, &s.dead)
	return s, err
}

// followAutovacuum reads the CPU times of the workers of autovacuum in all databases, until ctx ends.
func (w *watcher) followAutovacuum(ctx context.Context, b *bench) {
	for rest(ctx, 200*time.Millisecond) == nil {
		var list string
		err := b.admin.QueryRow(ctx, "SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'").Scan(&list)
		if err != nil {
			continue
		}
		for _, text := range strings.Fields(list) {
			if pid, err := strconv.Atoi(text); err == nil {
				w.mu.Lock()
				w.vacuum[pid] = max(w.vacuum[pid], cpuOf(pid))
				w.mu.Unlock()
			}
		}
	}
}

// autovacuum returns the CPU time of the workers of autovacuum so far.
func (w *watcher) autovacuum() (total time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, cpu := range w.vacuum {
		total += cpu
	}
	return total
}

// median returns the middle value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
