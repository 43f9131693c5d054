package main

import (
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
)

// commandTimeout bounds commands and HTTP calls that have no timeout of their
// own.
const commandTimeout = time.Hour

// commandPolicy says which commands and HTTP calls a node runs.
type commandPolicy string

// The choices of --commands.
const (
	commandsOff      commandPolicy = "off"
	commandsDeclared commandPolicy = "declared" // those in this node's own files
	commandsAny      commandPolicy = "any"      // whatever is in the store
)

var commandPolicies = []string{string(commandsOff), string(commandsDeclared), string(commandsAny)}

// parseCommands reads --commands; where it is not given the store decides: who
// can write to a SQLite file is on this machine already, who can write to a
// shared database is not, and should not become so by a row in a table.
func parseCommands(text string, given bool, at location) (commandPolicy, error) {
	switch policy := commandPolicy(text); {
	case !given && at.path != "":
		return commandsAny, nil
	case !given:
		return commandsDeclared, nil
	case policy == commandsOff, policy == commandsDeclared, policy == commandsAny:
		return policy, nil
	}
	return "", &hourbell.FieldError{Field: "commands", Value: shorten(text), Problem: "is unknown", Remedy: "use " + strings.Join(commandPolicies, ", ")}
}

// workers is the code of a node under the policy. Under off and declared the
// kinds are restricted; under off nothing is ever admitted.
func (p commandPolicy) workers() *hourbell.Workers {
	workers := hourbell.NewWorkers()
	options := []hourbell.WorkerOption{hourbell.WithTimeout(commandTimeout)}
	if p != commandsAny {
		options = append(options, hourbell.Restricted())
	}
	workers.Handle(kinds.CommandKind, kinds.CommandWorker{}.Work, options...)
	workers.Handle(kinds.HTTPKind, kinds.HTTPWorker{}.Work, options...)
	return workers
}
