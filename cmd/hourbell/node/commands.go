package main

import (
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
)

// commandPolicy selects the commands and HTTP calls that a node runs.
type commandPolicy string

// The values of --commands.
const (
	commandsOff      commandPolicy = "off"
	commandsDeclared commandPolicy = "declared" // commands and calls in this node's own files
	commandsAny      commandPolicy = "any"      // all commands and calls in the store
)

var commandPolicies = []string{string(commandsOff), string(commandsDeclared), string(commandsAny)}

// parseCommands reads --commands. The default depends on the store: a user who
// can write to a SQLite file already has access to this machine. A user who can
// write to a shared database may have no such access, and must not get it by a
// row in a table.
func parseCommands(text string, given bool, at location) (commandPolicy, error) {
	switch policy := commandPolicy(text); {
	case !given && at.path != "":
		return commandsAny, nil
	case !given:
		return commandsDeclared, nil
	case policy == commandsOff, policy == commandsDeclared, policy == commandsAny:
		return policy, nil
	}
	return "", &check.FieldError{Field: "commands", Value: plain.Shorten(text), Problem: "is unknown", Remedy: "use " + strings.Join(commandPolicies, ", ")}
}

// workers returns the workers of a node with this policy. Under off and
// declared the kinds are restricted; under off the allow-list stays empty.
func (p commandPolicy) workers() *hourbell.Workers {
	workers := hourbell.NewWorkers()
	options := []hourbell.WorkerOption{hourbell.DefaultTimeout(kinds.DefaultTimeout)}
	if p != commandsAny {
		options = append(options, hourbell.Restricted())
	}
	workers.Handle(kinds.CommandKind, kinds.CommandWorker{}.Work, options...)
	workers.Handle(kinds.HTTPKind, kinds.HTTPWorker{}.Work, options...)
	return workers
}
