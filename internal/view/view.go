package main

import (
	"encoding/json"
	"strings"
	"time"
)

// listing describes how items of one type are printed.
type listing[T any] struct {
	columns []string
	row     func(T) []string // for tables; cleaned before it is printed
	record  func(T) any      // for machine-readable output
}

// fact is one line of the text about one thing.
type fact struct{ name, value string }

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
