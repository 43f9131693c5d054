// Package names holds the one rule for names, of whatever they are names.
package names

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Max is the greatest length of a name in bytes.
const Max = 200

// Fault returns what is wrong with a name that is to be given to something,
// and the remedy; both are empty if the name is good.
func Fault(text string) (problem, remedy string) {
	if problem, remedy = StoredFault(text); problem != "" {
		return problem, remedy
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

// StoredFault is Fault for a name that is looked up: it takes every name that
// may have been stored before Fault refused segments of dots.
func StoredFault(text string) (problem, remedy string) {
	switch {
	case text == "":
		return "is empty", fmt.Sprintf("give it a name of 1 to %d bytes", Max)
	case len(text) > Max:
		return fmt.Sprintf("is %d bytes long", len(text)), fmt.Sprintf("use at most %d", Max)
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
