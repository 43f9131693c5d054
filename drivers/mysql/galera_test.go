package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
)

// TestGalera lets nodes on all servers of a Galera cluster work off jobs while a server is killed and comes back: each
// job's effect exists once, and no token is given twice. It takes half a minute, and runs if HOURBELL_TEST_GALERA=1.
func TestGalera(t *testing.T) {
	if os.Getenv("HOURBELL_TEST_GALERA") != "1" {
		t.Skip("starts three servers; set HOURBELL_TEST_GALERA=1")
	}
	cluster := testserver.StartGalera(t)
	first := openStore(t, cluster.Nodes[0].URL)
	migrate(t, first)
	_, err := first.db.Exec("CREATE TABLE effect (job BIGINT NOT NULL PRIMARY KEY, token BIGINT NOT NULL UNIQUE) ENGINE = InnoDB")
	must(t, err)
	const jobs, perServer = 3000, 2
	insertPlain(t, first, jobs)

	var done atomic.Int64
	var retries atomic.Int64
	var group sync.WaitGroup
	stop := make(chan struct{})
	for i := range len(cluster.Nodes) * perServer {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				ended, n, err := workOn(t, cluster.Nodes[i%len(cluster.Nodes)].URL, stop, &done)
				retries.Add(n)
				if ended {
					return
				}
				_ = err // the server is away: another attempt
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	await := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("waited too long until %s", what)
			}
		}
	}
	await("some jobs are done", func() bool { return done.Load() > jobs/5 })
	cluster.Nodes[1].Kill()
	await("more jobs are done", func() bool { return done.Load() > jobs/2 })
	cluster.Nodes[1].Start()
	var left int
	await("all jobs have ended", func() bool {
		must(t, first.db.QueryRow("SELECT COUNT(*) FROM hourbell_job").Scan(&left))
		return left == 0
	})
	close(stop)
	group.Wait()
	var effects, completed int
	must(t, first.db.QueryRow("SELECT (SELECT COUNT(*) FROM effect), (SELECT COUNT(*) FROM hourbell_history WHERE state = 3)").Scan(&effects, &completed))
	if effects != jobs || completed != jobs {
		t.Errorf("%d effects and %d completed jobs of %d", effects, completed, jobs)
	}
	t.Logf("%d transactions were begun again", retries.Load())
}

// workOn claims jobs on a server and completes each in a transaction with its effect, until an error. ended: it was stopped.
func workOn(t *testing.T, url string, stop chan struct{}, done *atomic.Int64) (ended bool, retries int64, err error) {
	ctx := context.WithoutCancel(t.Context())
	b, err := Open(ctx, url)
	if err != nil {
		return false, 0, err
	}
	defer b.Close()
	defer func() { retries = b.Retries() }()
	registered, err := b.Register(ctx, store.RegisterRequest{Name: fmt.Sprint("on ", url), Lease: 4 * time.Second, Queues: []string{"q"}, Kinds: []string{"k"}})
	if err != nil {
		return false, 0, err
	}
	txs := Transactions(b.db)
	var beat time.Time
	for {
		select {
		case <-stop:
			return true, 0, nil
		default:
		}
		if time.Since(beat) > time.Second {
			if _, err := b.Heartbeat(ctx, store.HeartbeatRequest{Node: registered.Node}); err != nil {
				return false, 0, err
			}
			if _, err := b.Rescue(ctx, store.RescueRequest{Node: registered.Node}); err != nil {
				return false, 0, err
			}
			beat = time.Now()
		}
		res, err := b.Claim(ctx, store.ClaimRequest{Node: registered.Node, Queue: "q", Kinds: []string{"k"}, Limit: 20})
		if err != nil {
			return false, 0, err
		}
		if len(res.Jobs) == 0 {
			time.Sleep(20 * time.Millisecond)
		}
		for _, job := range res.Jobs {
			if err := complete(ctx, b, txs, job, done); err != nil {
				return false, 0, err
			}
		}
	}
}

// complete completes a job in a transaction with its effect.
func complete(ctx context.Context, b *Backend, txs store.Transactions[*sql.Tx], job store.Claimed, done *atomic.Int64) error {
	for {
		tx, err := txs.Begin(ctx, store.BeginTxRequest{Timeout: time.Minute})
		if err != nil {
			return err
		}
		var out store.FinishResult
		if _, err = tx.Native.ExecContext(ctx, "INSERT INTO effect (job, token) VALUES (?, ?)", job.ID, job.Token); err == nil {
			out, err = b.Finish(ctx, store.FinishRequest{Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Completed, Alone: true}}})
		}
		tx.Rollback()
		switch {
		case err == nil && len(out.Refused) == 0:
			done.Add(1)
			return nil
		case txs.GaveUp(err):
			continue
		case err == nil:
			return errors.New("the claim was lost")
		}
		return err
	}
}
