package node

import (
	"fmt"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
)

// Commands selects the commands, HTTP calls and SQL statements that a node runs.
type Commands string

// The values of --commands.
const (
	NoCommands       Commands = "off"
	DeclaredCommands Commands = "declared" // commands and calls in this node's own files
	AnyCommands      Commands = "any"      // all commands and calls in the store
)

// ParseCommands reads the value of --commands; given is false if the flag was not
// given. The default depends on the store: a user who
// can write to a SQLite file already has access to this machine. A user who can
// write to a shared database may have no such access, and must not get it by a
// row in a table. The error is a *check.FieldError.
func ParseCommands(text string, given bool, at stores.Location) (Commands, error) {
	switch policy := Commands(text); {
	case !given && at.File() != "":
		return AnyCommands, nil
	case !given:
		return DeclaredCommands, nil
	case policy == NoCommands, policy == DeclaredCommands, policy == AnyCommands:
		return policy, nil
	}
	return "", &check.FieldError{
		Field: "commands", Value: check.Shorten(text), Problem: "is unknown",
		Remedy: fmt.Sprintf("use %s, %s, %s", NoCommands, DeclaredCommands, AnyCommands),
	}
}

// workers returns the workers of the node. Under off and declared the kinds are
// restricted; under off the allow-list stays empty.
func (n *Node) workers() (*hourbell.Workers, error) {
	workers := hourbell.NewWorkers()
	options := []hourbell.WorkerOption{hourbell.DefaultTimeout(kinds.DefaultTimeout)}
	if n.Commands != AnyCommands {
		options = append(options, hourbell.Restricted())
	}
	handle := func(kind string, work hourbell.Handler, more ...hourbell.WorkerOption) {
		more = append(more, hourbell.MaxRunning(n.MaxRunning[kind]))
		workers.Handle(kind, work, append(slices.Clone(options), more...)...)
	}
	handle(kinds.CommandKind, kinds.CommandWorker{Mail: n.mailer()}.Work, hourbell.CanHandOver())
	handle(kinds.HTTPKind, kinds.HTTPWorker{Private: n.HTTPPrivate}.Work)
	if len(n.SQL) > 0 {
		statements, err := n.openSQL()
		if err != nil {
			return nil, err
		}
		handle(kinds.SQLKind, statements.Work)
	}
	return workers, checkKinds(n.MaxRunning, workers.Kinds())
}

// mailer returns what mails the output of crontabs' lines; nil: nothing does.
func (n *Node) mailer() *kinds.Mailer {
	if n.Mail == "" {
		return nil
	}
	return &kinds.Mailer{Program: n.Mail, Host: n.host(), Failed: func(job *hourbell.JobRow, err error) {
		n.Config.Logger.Warn("output not mailed", "schedule", job.Schedule, "job", job.ID, "error", plain.OneLine(err.Error()))
	}}
}
