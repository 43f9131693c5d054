package sqlrows_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// TestParametersComeBack: what a parameter function makes of a value, its scanner takes back, as a number or as text.
func TestParametersComeBack(t *testing.T) {
	at := time.Date(2026, 3, 29, 1, 59, 59, 999_999_000, time.UTC)
	then, span, n, text := time.Now(), time.Hour, int64(7), "before"
	scan(t, sqlrows.IntoTime(&then), *sqlrows.Micros(at))
	if then != at {
		t.Errorf("%v came back as %v", at, then)
	}
	scan(t, sqlrows.IntoTime(&then), []byte("1774749599999999"))
	if then != at {
		t.Errorf("as text, %v came back as %v", at, then)
	}
	scan(t, sqlrows.IntoDuration(&span), []byte("1500000"))
	if span != 1500*time.Millisecond {
		t.Errorf("1500000 microseconds became %v", span)
	}
	scan(t, sqlrows.IntoNumber(&n), *sqlrows.OrNull(-5))
	scan(t, sqlrows.IntoText(&text), sqlrows.TextOrNull("a\xff").String)
	if n != -5 || text != "a\xff" {
		t.Errorf("a number and a text came back as %d, %q", n, text)
	}
}

// TestNothingIsNull: empty values are NULL, and NULL replaces what the target had before.
func TestNothingIsNull(t *testing.T) {
	if sqlrows.Micros(time.Time{}) != nil || sqlrows.OrNull(0) != nil || sqlrows.TextOrNull("").Valid {
		t.Error("an empty value is not NULL")
	}
	if !sqlrows.Instant(time.Time{}).IsZero() || sqlrows.NotNull(nil) == nil || sqlrows.JSONList([]int(nil)) != "[]" {
		t.Error("an empty list, or the zero time, does not stay empty")
	}
	then, n, text, list := time.Now(), int64(7), "before", []string{"kept"}
	scan(t, sqlrows.IntoTime(&then), nil)
	scan(t, sqlrows.IntoNumber(&n), nil)
	scan(t, sqlrows.IntoText(&text), nil)
	scan(t, sqlrows.IntoList(&list), nil)
	if !then.IsZero() || n != 0 || text != "" || len(list) != 1 {
		t.Errorf("NULL became %v, %d, %q, %q", then, n, text, list)
	}
}

// TestScannersRefuseOtherTypes: a column of another type is an error, not a wrong value.
func TestScannersRefuseOtherTypes(t *testing.T) {
	var then time.Time
	var span time.Duration
	var n int64
	var list []string
	for name, scanner := range map[string]sql.Scanner{
		"time": sqlrows.IntoTime(&then), "duration": sqlrows.IntoDuration(&span), "number": sqlrows.IntoNumber(&n), "list": sqlrows.IntoList(&list),
	} {
		if scanner.Scan(1.5) == nil || scanner.Scan([]byte("x")) == nil {
			t.Errorf("a %s was made of other values", name)
		}
	}
}

// TestPackerCutsPartsOut: each part is at its place, counted from 1, in the parameter.
func TestPackerCutsPartsOut(t *testing.T) {
	pack := sqlrows.NewPacker(3)
	for _, part := range []string{"a\x00\xff", "", "longer than the room"} {
		at, length := pack.Add([]byte(part))
		if got := string(pack.Parameter()[at-1 : at-1+length]); got != part {
			t.Errorf("%q came back as %q", part, got)
		}
	}
	if none := new(sqlrows.Packer).Parameter(); none == nil {
		t.Error("no bytes are NULL")
	}
}

func scan(t *testing.T, into sql.Scanner, value any) {
	t.Helper()
	if err := into.Scan(value); err != nil {
		t.Fatal(err)
	}
}
