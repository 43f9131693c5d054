package check

import "strings"

// MaxHost is the greatest length of the name of a host, and of the key and the value of a label, in bytes.
const MaxHost = 63

// Host returns an error if text cannot be the name of a host: 1–63 letters and digits of ASCII, dots, underscores and
// hyphens. field is named in the error.
func Host(field, text string) error {
	if isPlaceWord(text) {
		return nil
	}
	return &FieldError{
		Field: field, Value: Shorten(text), Problem: "is not the name of a host",
		Remedy: "use 1 to 63 letters, digits, dots, underscores and hyphens",
	}
}

// Label returns an error if text is not a label, KEY=VALUE, whose key and value are words as Host takes them. field is
// named in the error.
func Label(field, text string) error {
	key, value, found := strings.Cut(text, "=")
	if found && isPlaceWord(key) && isPlaceWord(value) {
		return nil
	}
	return &FieldError{
		Field: field, Value: Shorten(text), Problem: "is not a label",
		Remedy: "write KEY=VALUE, such as role=db, each with 1 to 63 letters, digits, dots, underscores and hyphens",
	}
}

// isPlaceWord reports whether a text can be part of a place. Such texts stand in names of queues, in files and in flags, so
// they have no characters that mean something there.
func isPlaceWord(text string) bool {
	return text != "" && len(text) <= MaxHost && !strings.ContainsFunc(text, notOfPlace)
}

// notOfPlace reports whether a character cannot be in a place: it is no letter, no digit, and none of the characters . _ and -.
func notOfPlace(r rune) bool {
	letter, digit := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z', '0' <= r && r <= '9'
	return !letter && !digit && !strings.ContainsRune("._-", r)
}
