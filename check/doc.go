// Package check validates what users give, and has the error that all packages
// return for input that is not valid: [*FieldError]. Only package recur has an
// error of its own.
package check

import (
	"fmt"
	"strings"

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
	text := Sentence(e.Field, e.Value, e.Problem)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Sentence returns a sentence about a field and its value; value may be empty. A problem that begins with a verb, such as
// "is missing", is the rest of the sentence; a problem with a subject of its own follows a colon.
func Sentence(field, value, problem string) string {
	text := field
	if value != "" {
		text = fmt.Sprintf("%s %q", field, value)
	}
	switch verb, _, _ := strings.Cut(problem, " "); verb {
	case "is", "are", "was", "were", "has", "have", "cannot", "can", "may", "must", "would", "does", "do",
		"applies", "begins", "belongs", "gives", "leaves", "makes", "names", "needs", "never", "repeats", "selects", "starts":
		return text + " " + problem
	}
	return text + ": " + problem
}

// Shorten cuts a value to a length that fits in a message.
func Shorten(value string) string { return plain.Cut(value, 60) }
