// Package kinds holds ready-made kinds of jobs. A kind here is a name, the
// arguments that go with it, and a worker to register under that name:
//
//	workers := hourbell.NewWorkers()
//	workers.Handle(kinds.CommandKind, kinds.CommandWorker{}.Work, hourbell.WithTimeout(time.Hour))
//	…
//	_, err = client.Enqueue(ctx, kinds.Command{Argv: []string{"pg_dump", "-f", "app.sql", "app"}})
//
// Commands run under a supervisor, a small process of their own, and end with
// it before their job can start elsewhere: see CommandWorker.
//
// A job carries its command with it, so whoever may write to the store decides
// what runs on the nodes that have registered this kind.
package kinds
