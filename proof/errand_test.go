package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Errand is the job of an order. The node begins and commits the transaction of its worker.
type Errand struct {
	Order string `json:"order"`
	// Before and After are for how long the worker works before and after it writes its effect.
	Before, After time.Duration
	// Step makes the worker record the store's time at its call and at its effect.
	Step bool `json:",omitempty"`
	// End is the state in which the worker ends its job, if it does not complete the job. It completes
	// a job that is mended.
	End string `json:",omitempty"`
}

func (Errand) Kind() string { return "errand" }

// Chore is an Errand whose worker begins and commits the transaction by hand, and works Before
// the transaction begins, without looking at its context.
type Chore Errand

func (Chore) Kind() string { return "chore" }

// Walk is an Errand without an effect, and without a transaction.
type Walk Errand

func (Walk) Kind() string { return "walk" }

const (
	makeOrders     = "CREATE TABLE orders (name text NOT NULL)"
	makeErrands    = "CREATE TABLE errand (name text NOT NULL, job bigint NOT NULL, token bigint NOT NULL, at bigint NOT NULL)"
	makeCalls      = "CREATE TABLE calls (job bigint NOT NULL, token bigint NOT NULL, at bigint NOT NULL)"
	makeMended     = "CREATE TABLE mended (job bigint NOT NULL)"
	insertMended   = "INSERT INTO mended (job) VALUES ($1)"
	countMended    = "SELECT count(*) FROM mended WHERE job = $1"
	insertOrder    = "INSERT INTO orders (name) VALUES ($1)"
	insertErrand   = "INSERT INTO errand (name, job, token, at) VALUES ($1, $2, $3, $4)"
	insertCall     = "INSERT INTO calls (job, token, at) VALUES ($1, $2, $3)"
	errandQueue    = "default"
	longQueue      = "long"      // of the node to which nothing happens
	transactionFor = time.Second // how long transactions by hand may take
)

// transaction is a transaction of a ledger.
type transaction struct {
	store  store.Tx
	exec   func(ctx context.Context, text string, args ...any) error
	commit func(ctx context.Context) error
	// rollback does nothing after the end.
	rollback func()
}

var errPlanned = errors.New("this job ends like this")

// playErrands is a node that runs errands, chores and walks.
func playErrands(a *actor) error {
	// first is what the worker of each kind does first.
	first := func(ctx context.Context, job *hourbell.JobRow, e Errand) error {
		if err := a.say("%d %d %s %d %d", job.ID, job.Token, a.name, e.Before.Milliseconds(), job.Attempt); err != nil {
			return err
		}
		if e.Step {
			now, err := a.now(ctx)
			if err == nil {
				err = a.exec(ctx, insertCall, job.ID, job.Token, now)
			}
			if err != nil {
				return err
			}
		}
		time.Sleep(e.Before)
		if e.End != "" {
			if mended, err := a.count(ctx, countMended, job.ID); err != nil || mended > 0 {
				return err
			}
		}
		switch e.End {
		case "failed":
			return hourbell.Fail(errPlanned)
		case "cancelled":
			return hourbell.Cancel(errPlanned)
		}
		return nil
	}
	// effect writes the effect of a job.
	effect := func(ctx context.Context, job *hourbell.JobRow, e Errand, exec func(context.Context, string, ...any) error) (err error) {
		at := int64(0)
		if e.Step {
			if at, err = a.now(ctx); err != nil {
				return err
			}
		}
		return exec(ctx, insertErrand, e.Order, job.ID, job.Token, at)
	}
	a.errands(a.workers, func(ctx context.Context, job *hourbell.Job[Errand], exec func(context.Context, string, ...any) error) error {
		if err := first(ctx, &job.JobRow, job.Args); err != nil {
			return err
		}
		if err := effect(ctx, &job.JobRow, job.Args, exec); err != nil {
			return err
		}
		time.Sleep(job.Args.After)
		return nil
	})
	hourbell.Register(a.workers, func(ctx context.Context, job *hourbell.Job[Chore]) error {
		if err := first(ctx, &job.JobRow, Errand(job.Args)); err != nil {
			return err
		}
		// A worker that is as unaware as can be: its context may have ended long ago.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), transactionFor)
		defer cancel()
		tx, err := a.begin(ctx)
		if err != nil {
			return err
		}
		defer tx.rollback()
		if err := effect(ctx, &job.JobRow, Errand(job.Args), tx.exec); err != nil {
			return err
		}
		time.Sleep(job.Args.After)
		if err := job.Complete(ctx, tx.store); err != nil {
			return err
		}
		return tx.commit(ctx)
	})
	hourbell.Register(a.workers, func(ctx context.Context, job *hourbell.Job[Walk]) error {
		return first(ctx, &job.JobRow, Errand(job.Args))
	})
	queues := map[string]int{errandQueue: 8}
	if os.Getenv("HOURBELL_PROOF_LONG") != "" {
		queues = map[string]int{errandQueue: 2, longQueue: 16}
	}
	return a.serve(hourbell.Config{Queues: queues})
}

// playEnqueuer makes the orders FROM to TO: a row of the program and a job, in one transaction.
// Half of the transactions are rolled back, and some end with their process.
func playEnqueuer(a *actor) error {
	client, err := hourbell.New(a.backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	from, to, _ := strings.Cut(os.Getenv("HOURBELL_PROOF_ORDERS"), "-")
	first, _ := strconv.Atoi(from)
	last, _ := strconv.Atoi(to)
	pause, err := time.ParseDuration(os.Getenv("HOURBELL_PROOF_PAUSE"))
	if err != nil {
		return err
	}
	for n := first; n < last; n++ {
		order := a.name + "-" + strconv.Itoa(n)
		say := func(what string) { _ = a.say("%s %d %s", order, n, what) }
		say("begun")
		if err := makeOrder(context.Background(), a, client, order, n, say); err != nil {
			fmt.Fprintf(os.Stderr, "order %s: %v\n", order, err)
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(rand.N(2*pause + 1))
	}
	return nil
}

// The words of an enqueuer about an order, besides begun.
const (
	orderWithdrawn = "withdrawn" // it will never be committed
	orderPromised  = "promised"  // the commit was answered
)

func makeOrder(ctx context.Context, a *actor, client *hourbell.Client, order string, n int, say func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	tx, err := a.begin(ctx)
	if err != nil {
		say(orderWithdrawn)
		return err
	}
	defer tx.rollback()
	if err = tx.exec(ctx, insertOrder, order); err == nil {
		_, err = client.Enqueue(ctx, argsOf(order, n, a.lease), hourbell.InTx(tx.store), hourbell.MaxAttempts(100), hourbell.Backoff("constant:100ms"), hourbell.Queue(queueOf(n)))
	}
	switch {
	case err != nil:
		say(orderWithdrawn)
		return err
	case n%125 == 60:
		say(orderWithdrawn)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case n%2 == 1:
		say(orderWithdrawn)
		return nil
	}
	if err := tx.commit(ctx); err != nil {
		return err // committed or not
	}
	say(orderPromised)
	return nil
}

// isLong reports whether the job of an order runs for longer than a lease; isSlow, for most of a lease.
func isLong(n int) bool { return n%100 == 10 }
func isSlow(n int) bool { return n%50 == 20 }

func queueOf(n int) string {
	if isLong(n) {
		return longQueue
	}
	return errandQueue
}

func argsOf(order string, n int, lease time.Duration) hourbell.Args {
	e := Errand{Order: order, Before: rand.N(30 * time.Millisecond), After: rand.N(5 * time.Millisecond)}
	switch {
	case isLong(n):
		e.Before = lease * 2
	case isSlow(n):
		e.Before = lease * 3 / 4
	case n%4 == 0:
		return e
	}
	return Chore(e)
}
