// Package handover is how a worker takes part when the program of a process is replaced in place: the
// process keeps its number, its children and the descriptors that are handed over, and the attempts
// of the worker go on.
//
// Only a worker whose work goes on outside of the process can take part. Of returns the channel
// Asked; when it is closed, the worker stops attending to its work and returns a *LeftError.
// The next worker of the same attempt, in the next program or, if the program could not be replaced,
// in this one, finds it in Of(ctx).Left and goes on. The attempt does not end in between.
package handover

import (
	"context"
	"encoding/json"
)

// Format is the number of the format in which a program describes its work for the next program.
// It changes with each change that an earlier release would misread: of what is handed over, and of
// the messages between a node and its supervisors (internal/supervise).
const Format = 1

// Key is the key under which the context of an attempt has its Attempt.
type Key struct{}

// Attempt is what the worker of an attempt needs to know about handing it over.
type Attempt struct {
	// Asked is closed when the worker has to leave the attempt; nil: it never has to.
	Asked <-chan struct{}
	// Left is what the attempt's worker before this one has left; nil: the attempt begins.
	Left *Left
}

// Of returns the attempt of the context of a worker; zero in tests of workers.
func Of(ctx context.Context) Attempt {
	attempt, _ := ctx.Value(Key{}).(Attempt)
	return attempt
}

// Left is what a worker leaves to the next worker of the attempt.
type Left struct {
	State       json.RawMessage `json:"state"`
	Descriptors []int           `json:"descriptors,omitempty"` // open files that State names
}

// LeftError is the error of a worker that has left its attempt.
type LeftError struct{ Left *Left }

// Error returns a text for middleware and logs.
func (*LeftError) Error() string {
	return "the attempt goes on: its worker has left it to the next program"
}
