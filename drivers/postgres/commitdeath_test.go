package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// dieVariable makes the test program a process that commits and dies: the schema of the test.
const dieVariable = "HOURBELL_TEST_COMMIT_AND_DIE"

// dieAfterACommit does so if the environment has dieVariable; TestMain calls it.
func dieAfterACommit() {
	if schema := os.Getenv(dieVariable); schema != "" {
		fmt.Println(commitAndDie(schema))
		os.Exit(1)
	}
}

// commitAndDie commits a transaction whose wake-up is still to be sent, prints when, and kills its
// process. It returns only an error.
func commitAndDie(schema string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv(serverVariable))
	if err != nil {
		return err
	}
	b := New(pool, Schema(schema))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		b.commitWakes.mu.Lock()
		b.commitWakes.last = deadline // this insert follows another within commitGap, however slow the machine is
		b.commitWakes.mu.Unlock()
		tx, err := pool.Begin(ctx)
		if err != nil {
			return err
		}
		res, err := b.Insert(ctx, store.InsertRequest{Tx: Tx(tx), Jobs: noop(1)})
		if err != nil {
			return err
		}
		b.commitWakes.mu.Lock() // no look begins any more
		if len(b.commitWakes.open) == 0 {
			b.commitWakes.mu.Unlock()
			if err := tx.Rollback(ctx); err != nil {
				return err
			}
			continue
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		fmt.Println(res.Jobs[0].ID, time.Now().UnixMicro())
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return errors.New("no transaction is remembered")
}

// TestDeathAfterACommit kills a process right after a commit whose wake-up it has not sent yet. The
// nodes start the job within a second. They are idle for so long before that they poll rarely.
func TestDeathAfterACommit(t *testing.T) {
	t.Parallel()
	const margin = time.Second // of a busy machine
	schema := newSchema(t)
	migrate(t, openAt(t, urlFrom(t, serverVariable), schema))
	type start struct {
		id int64
		at time.Time
	}
	starts := make(chan start, 100)
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[note]) error {
		starts <- start{job.ID, time.Now()}
		return nil
	})
	for range 2 {
		client, err := hourbell.New(openAt(t, urlFrom(t, serverVariable), schema), hourbell.Config{
			Workers: workers, Queues: map[string]int{"q": 2}, NoMigrate: true, Logger: slog.New(slog.DiscardHandler),
		})
		must(t, err)
		ran := make(chan error, 1)
		go func() { ran <- client.Run(context.WithoutCancel(t.Context())) }()
		t.Cleanup(func() {
			must(t, client.Stop(context.Background()))
			must(t, <-ran)
		})
	}
	time.Sleep(12 * time.Second) // the nodes watch for a while when they start, and then poll every 10 s
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), dieVariable+"="+schema)
		out, err := cmd.Output()
		id, micros, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
		if status, isExit := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !isExit || status.Signal() != syscall.SIGKILL {
			t.Fatalf("the process ended with %v: %s", err, out)
		}
		at, err := strconv.ParseInt(micros, 10, 64)
		must(t, err)
		for found := false; !found; {
			select {
			case s := <-starts:
				if found = strconv.FormatInt(s.id, 10) == id; found {
					took := s.at.Sub(time.UnixMicro(at))
					t.Logf("round %d: the job started %v after its commit", round, took)
					if took > time.Second+margin {
						t.Errorf("the job started %v after its commit", took)
					}
				}
			case <-time.After(30 * time.Second):
				t.Fatal("the job does not start")
			}
		}
		time.Sleep(time.Duration(round) * 300 * time.Millisecond) // another part of the interval
	}
}
