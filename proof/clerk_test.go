package proof

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Posting is a job whose worker writes a row in the transaction of the job.
type Posting struct {
	// Halt is where the first attempt waits for the file of goAhead: after the "effect", or
	// after the job was "completed" by hand. "exit" ends the process after the effect.
	Halt string `json:"halt,omitempty"`
}

func (Posting) Kind() string { return "posting" }

// Entry is a Posting that completes itself by hand.
type Entry Posting

func (Entry) Kind() string { return "entry" }

const (
	makeEffects = "CREATE TABLE effect (job bigint NOT NULL, token bigint NOT NULL)"
	postEffect  = "INSERT INTO effect (job, token) VALUES ($1, $2)"
)

// playClerk is a node whose workers write effects in the transactions of their jobs.
func playClerk(a *actor) error {
	halt := func(_ context.Context, job *hourbell.JobRow, halt, at string) error {
		if halt != at || job.Attempt > 1 {
			return nil
		}
		if err := a.say("%d %d halted %d", job.ID, job.Token, os.Getpid()); err != nil {
			return err
		}
		for { // the context is not looked at: the worker is as slow as can be
			if _, err := os.Stat(a.file.Name() + ".go"); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	a.register(a.workers, func(ctx context.Context, job *hourbell.JobRow, at string, write func() error) error {
		if err := write(); err != nil {
			return err
		}
		if at == "exit" {
			os.Exit(killed)
		}
		return halt(ctx, job, at, "effect")
	}, halt)
	return a.serve(hourbell.Config{Queues: map[string]int{"default": 8}})
}

// clerks are a site with a table of effects, and the nodes that write into it.
type clerks struct{ *site }

func newClerks(t *testing.T, at string) *clerks {
	t.Helper()
	c := &clerks{newSite(t, at)}
	c.exec(makeEffects)
	return c
}

// node starts a node; workerURL, if not empty, is what its workers use.
func (c *clerks) node(workerURL string) *process {
	c.t.Helper()
	return act(c.t, "clerk", c.at, c.witness, "HOURBELL_PROOF_WORKER_URL="+workerURL)
}

func (c *clerks) enqueue(args hourbell.Args, options ...hourbell.Option) int64 {
	c.t.Helper()
	job, err := c.client.Enqueue(c.t.Context(), args, options...)
	if err != nil {
		c.t.Fatal(err)
	}
	return job.ID
}

// halted returns how many workers wait.
func (c *clerks) halted() (n int) {
	for _, row := range c.witness.lines() {
		if row[2] == "halted" {
			n++
		}
	}
	return n
}

// goAhead lets the workers that wait go on.
func (c *clerks) goAhead() {
	c.t.Helper()
	if err := os.WriteFile(filepath.Clean(c.witness.path+".go"), nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// once checks that each job was completed and has one effect, of the claim that completed it.
func (c *clerks) once(ids ...int64) {
	c.t.Helper()
	for _, id := range ids {
		info, err := c.client.Jobs.Get(c.t.Context(), id)
		if err != nil {
			c.t.Fatal(err)
		}
		all, err := c.ledger.count(c.t.Context(), "SELECT count(*) FROM effect WHERE job = $1", id)
		if err != nil {
			c.t.Fatal(err)
		}
		own, err := c.ledger.count(c.t.Context(), "SELECT count(*) FROM effect WHERE job = $1 AND token = $2", id, info.Token)
		if err != nil {
			c.t.Fatal(err)
		}
		if info.State != store.StateCompleted || all != 1 || own != 1 {
			c.t.Errorf("job %d is %v after %d attempts, with %d effects, %s of its last claim", id, info.State, info.Attempt, all, strconv.FormatInt(own, 10))
		}
	}
}
