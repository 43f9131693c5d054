package recur

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is the error of every function of this package for a text or value that
// is not a valid rule.
type Error struct {
	Field   string // the wrong part of a Spec or CalendarSpec, by its name in JSON: "cron", "tz", "dates" and so on
	Value   string // the wrong text, cut to at most 64 bytes; may contain any bytes
	Problem string // what is wrong with it
	Remedy  string // what to write instead
}

// Error returns one line of valid, printable UTF-8, whatever Value contains.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	if e.Value != "" {
		b.WriteString(" " + strconv.Quote(e.Value))
	}
	b.WriteString(": " + e.Problem)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Mistake returns the fields of the error. Package check, which this package does not
// import, reads them for its InvalidError.
func (e *Error) Mistake() (field, value, problem, remedy string) {
	return e.Field, strings.ToValidUTF8(e.Value, "\uFFFD"), e.Problem, e.Remedy
}

// newError is the only function that makes an Error, so that Value is always
// bounded.
func newError(field, value, problem, remedy string) *Error {
	return &Error{Field: field, Value: shorten(value), Problem: problem, Remedy: remedy}
}

// quote prepares a part of the user's text for use inside a sentence.
func quote(s string) string {
	return strconv.Quote(shorten(s))
}

// shorten cuts s to at most 64 bytes, between characters, and marks the cut
// with dots.
func shorten(s string) string {
	const limit, mark = 64, "…"
	if len(s) <= limit {
		return s
	}
	cut := limit - len(mark)
	for back := 0; back < utf8.UTFMax-1 && !utf8.RuneStart(s[cut]); back++ {
		cut--
	}
	return s[:cut] + mark
}
