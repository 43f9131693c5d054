package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the greatest length of a name in bytes.
const MaxName = 200

// Name reports whether text is valid as the name of a queue, kind, schedule,
// calendar, owner, group or lock: 1–200 bytes of UTF-8, no control characters,
// no space at the ends, and no segment "." or ".." between slashes or
// backslashes, because names are used in addresses. field is the name of the
// field in the message. The error is a *[FieldError].
//
// Names that differ in a byte are different names: "a" and "A", and the two
// Unicode forms of "á". A name is never cut, folded or normalised.
func Name(field, text string) error { return nameError(field, text, fault) }

// StoredName is Name for a name that is looked up. It also accepts segments "."
// and "..", so that rows that were stored under such a name can be listed and
// deleted.
func StoredName(field, text string) error { return nameError(field, text, storedFault) }

func nameError(field, text string, fault func(text string) (problem, remedy string)) error {
	if problem, remedy := fault(text); problem != "" {
		return &FieldError{Field: field, Value: Shorten(text), Problem: problem, Remedy: remedy}
	}
	return nil
}

// fault returns what is wrong with a name that is to be given to something,
// and the remedy; both are empty if the name is good.
func fault(text string) (problem, remedy string) {
	if problem, remedy = storedFault(text); problem != "" {
		return problem, remedy
	}
	if !strings.Contains(text, ".") {
		return "", ""
	}
	// Names stand in addresses, where such a segment means another place.
	segments := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' })
	for _, dots := range []string{".", ".."} {
		switch {
		case text == dots:
			return fmt.Sprintf("is %q, which a URL would resolve as a path", dots), "use a name that is more than dots"
		case slices.Contains(segments, dots):
			return fmt.Sprintf("has the segment %q, which a URL would resolve as a path", dots), "remove the segment, or write more than dots between the slashes"
		}
	}
	return "", ""
}

// storedFault is fault for a name that is looked up: it takes every name that
// may have been stored before fault refused segments of dots.
func storedFault(text string) (problem, remedy string) {
	switch {
	case text == "":
		return "is empty", fmt.Sprintf("give it a name of 1 to %d bytes", MaxName)
	case len(text) > MaxName:
		return fmt.Sprintf("is %d bytes long", len(text)), fmt.Sprintf("use at most %d", MaxName)
	case !utf8.ValidString(text):
		return "is not valid UTF-8", "write it in UTF-8"
	case strings.TrimSpace(text) != text:
		return "begins or ends with white space", "remove it"
	}
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError {
			return fmt.Sprintf("contains the character %U", r), "use printable characters only"
		}
	}
	return "", ""
}
