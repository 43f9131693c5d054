// Package hourbell runs scheduled and queued work exactly where and when it
// should on a cluster of ordinary servers, with nothing to install but the
// database they already share.
//
// A Client joins three things: a store (a database seen by a driver), workers
// (your code, by kind) and, while it runs, a node of the cluster. Jobs are
// enqueued, also inside your own transaction; schedules are rows that make a
// job for each slot, once, whichever node comes first:
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
//	_, err = client.PutSchedule(ctx, hourbell.Schedule{
//		Name: "morning", Rule: recur.Spec{Cron: "0 9 * * 1-5", Zone: "Europe/Prague"},
//		Kind: "greet", Args: []byte(`{"name":"all"}`),
//	})
//	err = client.Run(ctx)
//
// Runs are at least once: a job whose node died runs again elsewhere, unless
// it says FailOnLoss. Each attempt bears a token (Job.Token) that is greater
// than every earlier one of the same job or schedule; hand it to whatever the
// job writes to, and let that refuse smaller ones.
//
// The words used here are defined in docs/glossary.md.
package hourbell

import "github.com/hourbell/hourbell/store"

// Version is the release of the library.
const Version = "0.1.0"

// What people see of jobs, nodes, queues and slots. They are the store's own
// types: fields may be added, never removed.
type (
	// JobInfo is a job as people see it.
	JobInfo = store.JobInfo
	// Attempt is the record of one attempt that had something to say.
	Attempt = store.Attempt
	// NodeInfo is a node as people see it.
	NodeInfo = store.NodeInfo
	// QueueInfo counts a queue's live jobs.
	QueueInfo = store.QueueInfo
	// SlotInfo is what became of a slot, or of a range of slots.
	SlotInfo = store.SlotInfo
	// JobChange says what became of one job in CancelJobs, RetryJobs or DeleteJobs.
	JobChange = store.JobChange
	// Tx is a caller's transaction, made by the driver: postgres.Tx(tx),
	// postgres.SQLTx(tx), sqlite.Tx(tx).
	Tx = store.Tx
	// State is where a job is on its way.
	State = store.State
	// OnLoss says what becomes of a job whose node died while it ran.
	OnLoss = store.OnLoss
)

// The choices of OnLoss.
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
