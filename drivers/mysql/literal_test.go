package mysql

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
)

// literalSessions are settings of sessions in which quotes, backslashes and characters mean different things.
var literalSessions = []string{
	"",
	"sql_mode=%27ANSI%2CNO_BACKSLASH_ESCAPES%2CPIPES_AS_CONCAT%27",
	"charset=latin1&sql_mode=%27%27",
	"charset=gbk",
}

// FuzzLiterals sends texts and bytes as literals through sessions with different settings, and reads their
// bytes back. They must come back as they were, and the statement must stay one statement.
func FuzzLiterals(f *testing.F) {
	for _, text := range []string{"", "a", "it's", `back\slash`, `\`, `"`, "a\x00b", "-- ; /*", "?", ":name", "{bin}", "é😀", "\xbf'", "\xbf\x27 OR 1=1 -- ", "\n", " ends "} {
		f.Add(text, []byte(text))
	}
	var sessions []*sql.DB
	for _, parameters := range literalSessions {
		_, db := newDatabase(f, parameters)
		sessions = append(sessions, db)
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if data == nil {
			data = []byte{}
		}
		text = strings.ToValidUTF8(text, "?")
		statement := "SELECT HEX(CONVERT(" + string(literalOf(t, text)) + " USING utf8mb4)), HEX(" + string(literalOf(t, data)) + "), " + string(literalOf(t, []int64{-1})) + " IN (" + string(literalOf(t, []int64{})) + ")"
		for i, db := range sessions {
			var gotText, gotData string
			var in *int64
			must(t, db.QueryRowContext(t.Context(), statement).Scan(&gotText, &gotData, &in))
			if gotText != fmt.Sprintf("%X", text) || gotData != fmt.Sprintf("%X", data) || in != nil {
				t.Errorf("session %q: text %q came back as %s, bytes %q as %s", literalSessions[i], text, gotText, data, gotData)
			}
		}
	})
}

func literalOf(t testing.TB, value any) []byte {
	t.Helper()
	literal, err := appendLiteral(nil, value)
	must(t, err)
	if bytes.ContainsFunc(literal, func(r rune) bool { return r > '~' || r < ' ' }) || strings.Count(string(literal), "'")%2 != 0 {
		t.Fatalf("the literal of %q is %q", value, literal)
	}
	return literal
}

func TestLiterals(t *testing.T) {
	var none *int64
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, "NULL"},
		{none, "NULL"},
		{[]byte(nil), "NULL"},
		{[]int64(nil), "NULL"},
		{sql.NullString{}, "NULL"},
		{true, "1"},
		{int16(-3), "-3"},
		{uint64(1<<64 - 1), "18446744073709551615"},
		{"a-Z 0.:@_", "_utf8mb4'a-Z 0.:@_'"},
		{"it's", "_utf8mb4 x'69742773'"},
		{"", "_utf8mb4''"},
		{sql.NullString{String: "a", Valid: true}, "_utf8mb4'a'"},
		{[]byte{}, "x''"},
		{datetime(time.Time{}), "NULL"},
		{datetime(time.Date(2026, 3, 1, 12, 0, 0, 5000, time.FixedZone("", 3600))), "TIMESTAMP'2026-03-01 11:00:00.000005'"},
		{datetime(time.Date(999, 12, 31, 0, 0, 0, 0, time.UTC)), "TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL -30610310400000000 MICROSECOND"},
		{later("UTC_TIMESTAMP(6)", time.Second), "UTC_TIMESTAMP(6) + INTERVAL 1000000 MICROSECOND"},
		{later("UTC_TIMESTAMP(6)", 0), "UTC_TIMESTAMP(6)"},
		{[]byte{0, 255}, "x'00ff'"},
		{[]int64{1, 2}, "1,2"},
		{[]string{"a", "'"}, "_utf8mb4'a',_utf8mb4 x'27'"},
	} {
		if got := string(literalOf(t, c.value)); got != c.want {
			t.Errorf("%#v became %s, want %s", c.value, got, c.want)
		}
	}
	if _, err := appendLiteral(nil, 1.5); err == nil {
		t.Error("a value of another type became a literal")
	}
}
