package postgres

import (
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// instant scans a time: UTC, the zero time for null.
type instant time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (t *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t = instant{}
	if v.Valid {
		*t = instant(v.Time.UTC())
	}
	return nil
}

// Scan implements sql.Scanner.
func (t *instant) Scan(value any) error {
	return scanOrZero(value, func(v time.Time) {
		if *t = (instant{}); !v.IsZero() {
			*t = instant(v.UTC())
		}
	})
}

// into makes a time a target for Scan.
func into(t *time.Time) *instant { return (*instant)(t) }

// number scans a bigint, 0 for null.
type number int64

// ScanInt64 implements pgtype.Int64Scanner.
func (n *number) ScanInt64(v pgtype.Int8) error {
	*n = number(v.Int64) // 0 if it is null
	return nil
}

// Scan implements sql.Scanner.
func (n *number) Scan(value any) error {
	return scanOrZero(value, func(v int64) { *n = number(v) })
}

// word is a text that is scanned from a column; null becomes an empty text.
type word string

// ScanText implements pgtype.TextScanner.
func (w *word) ScanText(v pgtype.Text) error {
	*w = word(v.String) // empty if it is null
	return nil
}

// Scan implements sql.Scanner.
func (w *word) Scan(value any) error {
	return scanOrZero(value, func(v string) { *w = word(v) })
}

// scanOrZero scans a value as database/sql does and gives it to set; null as the zero value.
func scanOrZero[T any](value any, set func(T)) error {
	var v sql.Null[T]
	err := v.Scan(value)
	if err == nil {
		set(v.V)
	}
	return err
}

// when is a time as an argument: null for the zero time, whole microseconds.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Microsecond)
	return &t
}

// orNull is a value as an argument: null for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// listOrNull is a list as an argument: null for an empty one.
func listOrNull[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// repeated scans a text that is mostly the same in one row after the other, and then
// allocates no text.
type repeated string

// ScanBytes implements pgtype.BytesScanner.
func (r *repeated) ScanBytes(text []byte) error {
	if string(*r) != string(text) {
		*r = repeated(text)
	}
	return nil
}
