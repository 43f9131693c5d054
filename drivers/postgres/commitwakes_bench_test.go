package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// BenchmarkInsertInTx compares inserts in callers' transactions (BEGIN, insert, COMMIT by 8
// clients) with a bare INSERT into the same table by the same driver, which wakes no node. Each op
// is a round that measures every way once; the ratios are medians of the rounds, so use
// -benchtime=7x. "slow-flush" imitates a disk that takes a millisecond to flush, "open" has 1,000
// transactions open concurrently and is skipped on a server with fewer connections.
func BenchmarkInsertInTx(b *testing.B) {
	slow := "-c commit_delay=1000 -c commit_siblings=0"
	b.Run("pgx", func(b *testing.B) { compareInTx(b, inTxCase{variable: serverVariable}) })
	b.Run("slow-flush", func(b *testing.B) { compareInTx(b, inTxCase{variable: serverVariable, options: slow}) })
	b.Run("sql", func(b *testing.B) { compareInTx(b, inTxCase{variable: serverVariable, sql: true}) })
	b.Run("pgbouncer", func(b *testing.B) { compareInTx(b, inTxCase{variable: bouncerVariable}) })
	b.Run("open", func(b *testing.B) { compareInTx(b, inTxCase{variable: serverVariable, open: 1000}) })
}

const inTxClients = 8

type inTxCase struct {
	variable string
	options  string // of the callers' sessions
	sql      bool   // through database/sql
	open     int    // transactions that stay open
}

// inTxWays are the ways that are compared, the yardstick first.
var inTxWays = []string{"bare", "notify", "hourbell"}

func compareInTx(b *testing.B, c inTxCase) {
	s := fresh(b)
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(urlFrom(b, c.variable))
	must(b, err)
	config.MaxConns = inTxClients
	if c.options != "" {
		config.ConnConfig.RuntimeParams["options"] = c.options
	}
	if c.variable == bouncerVariable {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(b, err)
	defer pool.Close()
	backend := New(pool, Schema(s.schema))
	defer backend.Close()
	var db *sql.DB
	if c.sql {
		db, err = sql.Open("pgx", config.ConnString())
		must(b, err)
		defer db.Close()
		db.SetMaxOpenConns(inTxClients)
		db.SetMaxIdleConns(inTxClients)
	}
	holdOpen(b, backend, c.open)
	insert := bareInsertOf(s.schema)
	var bare *sql.Stmt
	if c.sql {
		bare, err = db.Prepare(insert)
		must(b, err)
		defer bare.Close()
	}
	one := func(way string) {
		req := store.InsertRequest{Jobs: noop(1), NotifyInTx: way == "notify"}
		job := req.Jobs[0]
		if c.sql {
			tx, err := db.Begin()
			must(b, err)
			defer tx.Rollback()
			if way == "bare" {
				var id int64
				must(b, tx.Stmt(bare).QueryRow(job.Kind, job.Queue, string(job.Args)).Scan(&id))
			} else {
				req.Tx = SQLTx(tx)
				_, err = backend.Insert(ctx, req)
				must(b, err)
			}
			must(b, tx.Commit())
			return
		}
		tx, err := pool.Begin(ctx)
		must(b, err)
		defer tx.Rollback(ctx)
		if way == "bare" {
			var id int64
			must(b, tx.QueryRow(ctx, insert, job.Kind, job.Queue, string(job.Args)).Scan(&id))
		} else {
			req.Tx = Tx(tx)
			_, err = backend.Insert(ctx, req)
			must(b, err)
		}
		must(b, tx.Commit(ctx))
	}
	rates := map[string][]float64{}
	ratios := map[string][]float64{}
	for round := 0; b.Loop(); round++ {
		for i := range inTxWays {
			way := inTxWays[(i+round)%len(inTxWays)]
			rates[way] = append(rates[way], rateOf(500*time.Millisecond, func() { one(way) }))
		}
		for _, way := range inTxWays[1:] {
			ratios[way] = append(ratios[way], rates[way][round]/rates["bare"][round])
		}
	}
	for _, way := range inTxWays {
		b.ReportMetric(median(rates[way]), way+"/s")
	}
	for _, way := range inTxWays[1:] {
		b.ReportMetric(median(ratios[way]), way+"/bare")
	}
	b.ReportMetric(0, "ns/op")
}

// bareInsertOf inserts one job into the table of jobs, and nothing else.
func bareInsertOf(schema string) string {
	return fmt.Sprintf("INSERT INTO %s.job (run_at, created_at, state, origin, kind, queue, args, priority, max_attempts, on_loss, timeout_ns)"+
		" VALUES (now(), now(), 0, 0, $1, $2, $3, 5, 25, 0, 0) RETURNING id", pgx.Identifier{schema}.Sanitize())
}

// rateOf returns how often inTxClients goroutines call do in a second.
func rateOf(d time.Duration, do func()) float64 {
	var calls atomic.Int64
	var clients sync.WaitGroup
	began := time.Now()
	for range inTxClients {
		clients.Go(func() {
			for time.Since(began) < d {
				do()
				calls.Add(1)
			}
		})
	}
	clients.Wait()
	return float64(calls.Load()) / time.Since(began).Seconds()
}

// holdOpen opens transactions with an insert each until the benchmark ends.
func holdOpen(b *testing.B, backend *Backend, n int) {
	if n == 0 {
		return
	}
	ctx := context.Background()
	u, err := url.Parse(urlFrom(b, serverVariable))
	must(b, err)
	var most int
	must(b, backend.pool.QueryRow(ctx, "select current_setting('max_connections')::int").Scan(&most))
	if most < n+50 {
		b.Skipf("max_connections is %d", most)
	}
	for range n {
		conn, err := pgx.Connect(ctx, u.String())
		must(b, err)
		b.Cleanup(func() { conn.Close(ctx) })
		tx, err := conn.Begin(ctx)
		must(b, err)
		_, err = backend.Insert(ctx, store.InsertRequest{Tx: Tx(tx), Jobs: noop(1)})
		must(b, err)
	}
}
