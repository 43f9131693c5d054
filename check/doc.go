// Package check validates what users give, and has the error that all packages
// return for input that is not valid: [*FieldError]. Only package recur has an
// error of its own.
package check

import (
	"fmt"

	"github.com/hourbell/hourbell/internal/plain"
)

// FieldError is the error for invalid input. It has the name of the field as
// users write it, the problem and the remedy. Several mistakes are joined by
// errors.Join; errors.As finds the first.
type FieldError struct {
	Field   string
	Value   string // the given value, shortened
	Problem string
	Remedy  string
}

// Error returns all fields in one line.
func (e *FieldError) Error() string {
	text := e.Field + ": "
	if e.Value != "" {
		text = fmt.Sprintf("%s %q: ", e.Field, e.Value)
	}
	text += e.Problem
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Shorten cuts a value to a length that fits in a message.
func Shorten(value string) string { return plain.Cut(value, 60) }
