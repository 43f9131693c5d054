package sqlrows

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Args are the values of a statement's parameters, by name.
type Args map[string]any

// Instant brings a time to the form in which it is kept: UTC, whole microseconds.
func Instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// Micros is a time as a parameter: microseconds since 1970, or nil for none.
func Micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMicro()
	return &n
}

// OrNull is a number as a parameter: NULL for 0.
func OrNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// listOrNull is a list as JSON; nil for an empty list.
func listOrNull[T any](list []T) *string {
	if len(list) == 0 {
		return nil
	}
	text := JSON(list)
	return &text
}

// NumbersOf returns the numbers of rows.
func NumbersOf[T any](rows []T, number func(*T) int64) []int64 {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = number(&rows[i])
	}
	return ids
}

// TextOrNull is a text as a parameter: NULL for an empty one.
func TextOrNull(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

// NotNull is bytes as a parameter; nil would be SQL's NULL.
func NotNull(bytes []byte) []byte {
	if bytes == nil {
		return []byte{}
	}
	return bytes
}

// JSON encodes a list of numbers or texts, or of structs with such fields, as a parameter. Texts in it are valid UTF-8; bytes
// that must stay as they are need a parameter of their own, such as a Packer. It panics if v has no form in JSON.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // only types of numbers and texts come here
	}
	return string(text)
}

// JSONList is JSON for lists, with [] for none.
func JSONList[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	return JSON(list)
}

// Packer gathers the bytes of many rows in one parameter, so that SQL can cut each row's part out, unchanged.
type Packer struct{ bytes []byte }

// NewPacker returns a Packer with room for a number of bytes.
func NewPacker(size int) Packer { return Packer{make([]byte, 0, size)} }

// Add returns where a part begins, counted from 1, and its length; nil comes back as an empty part.
func (p *Packer) Add(part []byte) (at, length int) {
	at = len(p.bytes) + 1
	p.bytes = append(p.bytes, part...)
	return at, len(part)
}

// Parameter is the gathered bytes.
func (p *Packer) Parameter() []byte { return NotNull(p.bytes) }

// IntoTime scans an instant, the way back from Micros; NULL becomes the zero time.
func IntoTime(t *time.Time) sql.Scanner { return timeScanner{t} }

type timeScanner struct{ t *time.Time }

// Scan implements sql.Scanner.
func (s timeScanner) Scan(value any) error {
	if value == nil {
		*s.t = time.Time{}
		return nil
	}
	n, err := number(value)
	*s.t = time.UnixMicro(n).UTC()
	return err
}

// IntoDuration scans microseconds.
func IntoDuration(d *time.Duration) sql.Scanner { return durationScanner{d} }

type durationScanner struct{ d *time.Duration }

// Scan implements sql.Scanner.
func (s durationScanner) Scan(value any) error {
	n, err := number(value)
	*s.d = time.Duration(n) * time.Microsecond
	return err
}

// IntoNumber scans a number, the way back from OrNull.
func IntoNumber(n *int64) sql.Scanner { return numberScanner{n} }

type numberScanner struct{ n *int64 }

// Scan implements sql.Scanner.
func (s numberScanner) Scan(value any) (err error) {
	*s.n = 0
	if value != nil {
		*s.n, err = number(value)
	}
	return err
}

// IntoText scans a text, the way back from TextOrNull.
func IntoText(text *string) sql.Scanner { return textScanner{text} }

type textScanner struct{ text *string }

// Scan implements sql.Scanner.
func (s textScanner) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*s.text = text.String
	return err
}

// IntoList scans JSON into a pointer to a list; NULL leaves the list as it is.
func IntoList(list any) sql.Scanner { return listScanner{list} }

type listScanner struct{ list any }

// Scan implements sql.Scanner.
func (s listScanner) Scan(value any) error {
	switch text := value.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(text), s.list)
	case []byte:
		return json.Unmarshal(text, s.list)
	}
	return fmt.Errorf("a list came as %T, not as text", value)
}

// number returns a whole number: a database may send it as text.
func number(value any) (int64, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	}
	return 0, fmt.Errorf("a number came as %T", value)
}
