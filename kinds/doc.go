// Package kinds contains ready-made kinds of jobs. A kind here is a name, its
// arguments, and a worker to register under that name:
//
//	workers := hourbell.NewWorkers()
//	workers.Handle(kinds.CommandKind, kinds.CommandWorker{}.Work, hourbell.DefaultTimeout(kinds.DefaultTimeout))
//	…
//	_, err = client.Enqueue(ctx, kinds.Command{Argv: []string{"pg_dump", "-f", "app.sql", "app"}})
//
// Commands run under a supervisor, a small separate process, and end before
// their job can start on another node: see CommandWorker.
//
// HTTPWorker makes requests, and SQLWorker runs statements on connections that the
// program names; on the store's own database the effect of a statement and the
// completion of its job are one commit.
//
// A job contains its command, so every program with write access to the store
// decides what runs on the nodes that have registered this kind.
package kinds

import "time"

// DefaultTimeout is the timeout that the program gives the workers of this
// package for jobs without a timeout of their own. A worker that is registered
// without hourbell.DefaultTimeout has none.
const DefaultTimeout = time.Hour
