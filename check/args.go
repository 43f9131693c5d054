package check

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxArgs is the greatest size of a job's arguments in bytes.
const MaxArgs = 1 << 20

// Args reports whether text is valid as a job's arguments: JSON of at most
// MaxArgs bytes. field is the name of the field in the message. The error is a
// *[FieldError].
func Args(field string, text []byte) error {
	if err := EncodedArgs(field, text); err != nil {
		return err
	}
	if json.Valid(text) {
		return nil
	}
	var value json.RawMessage
	return badArgs(field, text, fmt.Sprintf("are not valid JSON: %v", json.Unmarshal(text, &value)), "write one JSON value, for example {\"name\":\"Ada\"}")
}

// EncodedArgs is the part of Args that JSON made by json.Marshal needs too: such
// JSON is valid, but a type's own MarshalJSON may include any bytes.
func EncodedArgs(field string, text []byte) error {
	switch {
	case len(text) > MaxArgs:
		return badArgs(field, text, fmt.Sprintf("cannot have %d bytes", len(text)),
			fmt.Sprintf("keep them within %d bytes and pass a reference to larger data", MaxArgs))
	case !utf8.Valid(text):
		return badArgs(field, text, "are not valid UTF-8", "JSON is written in UTF-8")
	}
	return nil
}

// MaxResult is the greatest size of a job's result in bytes.
const MaxResult = 64 << 10

// Result reports whether JSON is valid as the result of a job: valid UTF-8 of at
// most MaxResult bytes. The error is a *[FieldError].
func Result(text []byte) error { return kept("result", text) }

// Value reports whether text is valid as the value of a step or of a signal: JSON
// in valid UTF-8 of at most MaxResult bytes. The error is a *[FieldError].
func Value(field string, text []byte) error {
	if !json.Valid(text) {
		return badArgs(field, text, "is not JSON", `quote texts, as in "yes"`)
	}
	return kept(field, text)
}

// kept reports whether JSON can be kept with a job.
func kept(field string, text []byte) error {
	switch {
	case len(text) > MaxResult:
		return badArgs(field, text, fmt.Sprintf("is %d bytes long", len(text)),
			fmt.Sprintf("keep it within %d bytes and store a reference to larger data", MaxResult))
	case !utf8.Valid(text):
		return badArgs(field, text, "is not valid UTF-8", "JSON is written in UTF-8")
	}
	return nil
}

func badArgs(field string, text []byte, problem, remedy string) error {
	return &FieldError{Field: field, Value: Shorten(string(text)), Problem: problem, Remedy: remedy}
}
