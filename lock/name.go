package lock

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the greatest length of a name in bytes.
const MaxName = 200

// CheckName says whether text can be a lock's name: 1–200 bytes of UTF-8, no
// control characters, no space at the ends. The error is a *[FieldError].
//
// Names that differ in a byte are different locks: "a" and "A", and the two
// Unicode forms of "á". A name is never cut, folded or normalised.
func CheckName(text string) error {
	bad := func(problem, remedy string) error {
		return &FieldError{Field: "name", Value: shorten(text), Problem: problem, Remedy: remedy}
	}
	switch {
	case text == "":
		return bad("is empty", "give the lock a name of 1 to 200 bytes")
	case len(text) > MaxName:
		return bad(fmt.Sprintf("is %d bytes long", len(text)), fmt.Sprintf("use at most %d", MaxName))
	case !utf8.ValidString(text):
		return bad("is not valid UTF-8", "write it in UTF-8")
	case strings.TrimSpace(text) != text:
		return bad("begins or ends with white space", "remove it")
	}
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError {
			return bad(fmt.Sprintf("contains the character %U", r), "use printable characters only")
		}
	}
	return nil
}

// shorten cuts a value to what fits in a message.
func shorten(value string) string {
	const most = 60
	if len(value) <= most {
		return value
	}
	return strings.ToValidUTF8(value[:most], "") + "…"
}
