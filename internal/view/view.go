// Package view shows jobs, schedules, slots, nodes and whatever else the program
// lists: as rows of a table, as the facts about one thing, and as records for
// machine-readable output, with the same words for states everywhere. A page or
// an API that shows them uses this package, so that it agrees with the program.
//
// A [Job] and a [Schedule] are made from the library's types by a function that
// hides values that may be secrets, so that records and rows cannot contain them
// by accident. All functions are pure and safe for concurrent calls, except
// [Jobs], [Since] and functions that begin with Read, or end with Of, which read the store.
package view

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
)

// Listing describes how items of one type are shown.
type Listing[T any] struct {
	Columns []string
	// Minor has the columns that a narrow terminal has no room for, the least important first.
	Minor []string
	// Row returns the cells of a table. They may contain any characters:
	// plain.Clean makes them safe for a terminal.
	Row func(T) []string
	// Record returns the item for machine-readable output: a value that
	// encoding/json encodes as an object.
	Record func(T) any
}

// Fact is one line of the text about one thing. A fact whose value is empty or
// "-" is left out of texts.
type Fact struct{ Name, Value string }

// The values of records; a missing value is null.

func orNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func durationOrNull(d time.Duration) *string {
	if d == 0 {
		return nil
	}
	return orNull(d.String())
}

// timeoutOrNull formats a timeout; nil means the worker's own.
func timeoutOrNull(d time.Duration) *string {
	if d >= hourbell.MaxDuration {
		return orNull(declared.NoTimeout)
	}
	return durationOrNull(d)
}

// validText makes text of arbitrary bytes valid for JSON.
func validText(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// rawJSON returns JSON on one line; text that is not JSON becomes a string.
func rawJSON(text []byte) json.RawMessage {
	switch {
	case len(text) == 0:
		return json.RawMessage("null")
	case json.Valid(text):
		return text
	}
	quoted, err := json.Marshal(validText(text))
	if err != nil { // strings always encode
		return json.RawMessage("null")
	}
	return quoted
}
