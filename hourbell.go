// Package hourbell runs scheduled and queued work exactly where and when it
// should on a cluster of ordinary servers. It needs only the database that the
// servers already share.
//
// A Client joins three things: a store (a database accessed by a driver),
// workers (your code, by kind) and, while it runs, a node of the cluster. Jobs
// are enqueued, also inside your own transaction. Schedules are rows that make
// one job for each slot, whichever node comes first:
//
//	type Greet struct {
//		Name string `json:"name"`
//	}
//
//	func (Greet) Kind() string { return "greet" }
//
//	workers := hourbell.NewWorkers()
//	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Greet]) error {
//		fmt.Println("hello", job.Args.Name)
//		return nil
//	})
//	backend, err := sqlite.Open(ctx, "hourbell.db")
//	…
//	client, err := hourbell.New(backend, hourbell.Config{Workers: workers})
//	…
//	err = client.Migrate(ctx) // creates the schema, once
//	_, err = client.Enqueue(ctx, Greet{Name: "Ada"})
//	_, err = client.Schedules.Put(ctx, hourbell.Schedule{
//		Name: "morning", Rule: recur.Cron("0 9 * * 1-5").In("Europe/Prague"), Job: Greet{Name: "all"},
//	})
//	err = client.Run(ctx)
//
// Jobs run at least once: a job whose node died runs again on another node,
// unless its on-loss choice is FailOnLoss. Each attempt has a token (Job.Token)
// that is greater than every earlier token of the same job or schedule. Pass it
// to the systems to which the job writes, and let them refuse smaller tokens.
//
// The words used here are defined in docs/glossary.md.
package hourbell

import "github.com/hourbell/hourbell/store"

// Version is the release of the library.
const Version = "0.1.0"

// Jobs, nodes, queues and slots as they are listed. These are the store's own
// types: fields may be added, never removed.
type (
	// JobInfo is a job as it is listed.
	JobInfo = store.JobInfo
	// Attempt is the record of one attempt, if the attempt has an error or an
	// output.
	Attempt = store.Attempt
	// NodeInfo is a node as it is listed.
	NodeInfo = store.NodeInfo
	// QueueInfo counts a queue's live jobs.
	QueueInfo = store.QueueInfo
	// SlotInfo is the outcome of a slot, or of a range of slots.
	SlotInfo = store.SlotInfo
	// JobChange is the result for one job in JobService.Cancel, Retry or
	// Delete.
	JobChange = store.JobChange
	// Tx is a caller's transaction, made by the driver: postgres.Tx(tx),
	// postgres.SQLTx(tx), sqlite.Tx(tx).
	Tx = store.Tx
	// State is the state of a job.
	State = store.State
	// OnLoss selects what happens to a job whose node died while it ran.
	OnLoss = store.OnLoss
)

// The values of OnLoss.
const (
	// RetryOnLoss runs the job again on another node (default).
	RetryOnLoss = store.OnLossRetry
	// FailOnLoss never starts the job twice: if its node dies, it fails with
	// the reason "lost".
	FailOnLoss = store.OnLossFail
)

// The states of a job.
const (
	Ready     = store.StateReady
	Waiting   = store.StateWaiting
	Running   = store.StateRunning
	Completed = store.StateCompleted
	Failed    = store.StateFailed
	Cancelled = store.StateCancelled
)
