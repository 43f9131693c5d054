package lock

import (
	"strings"

	"github.com/hourbell/hourbell/internal/names"
)

// MaxName is the greatest length of a name in bytes.
const MaxName = names.Max

// CheckName reports whether text is valid as a lock's name: 1–200 bytes of
// UTF-8, no control characters, no space at the ends, and no segment "." or
// ".." between slashes or backslashes, because names are used in addresses. The
// error is a *[FieldError].
//
// Names that differ in a byte are different locks: "a" and "A", and the two
// Unicode forms of "á". A name is never cut, folded or normalised.
func CheckName(text string) error { return nameError(text, names.Fault) }

// CheckStoredName is CheckName for a lock that is looked up. It also accepts
// segments "." and "..", so that a lock that was stored under such a name can
// be shown and freed.
func CheckStoredName(text string) error { return nameError(text, names.StoredFault) }

func nameError(text string, fault func(text string) (problem, remedy string)) error {
	if problem, remedy := fault(text); problem != "" {
		return &FieldError{Field: "name", Value: shorten(text), Problem: problem, Remedy: remedy}
	}
	return nil
}

// shorten cuts a value to a length that fits in a message.
func shorten(value string) string {
	const most = 60
	if len(value) <= most {
		return value
	}
	return strings.ToValidUTF8(value[:most], "") + "…"
}
