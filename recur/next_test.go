package recur

import (
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine that has none
)

// TestNextCases runs testdata/next.txt, which explains its form.
func TestNextCases(t *testing.T) {
	text, err := os.ReadFile("testdata/next.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cases++
		columns := strings.Split(line, " | ")
		if len(columns) != 4 {
			t.Fatalf("line %d: %d columns, want 4", i+1, len(columns))
		}
		checkCase(t, i+1, columns[0], columns[1], columns[2], strings.Fields(columns[3]))
	}
	if cases < 200 {
		t.Errorf("only %d cases found", cases)
	}
}

func checkCase(t *testing.T, line int, zone, expr, after string, want []string) {
	t.Helper()
	rule, err := Spec{Cron: expr, Zone: zone}.Rule(time.Unix(0, 0))
	if want[0] == "error" {
		if err == nil {
			t.Errorf("line %d: %s %s: no error", line, zone, expr)
		}
		return
	}
	if err != nil {
		t.Errorf("line %d: %v", line, err)
		return
	}
	at := mustTime(t, after)
	for _, w := range want {
		next := rule.Next(at)
		if w == "none" {
			if !next.IsZero() {
				t.Errorf("line %d: %s: after %s got %s, want none", line, rule, at.Format(time.RFC3339), next.Format(time.RFC3339))
			}
			return
		}
		wanted := mustTime(t, w)
		if next.Format(time.RFC3339) != wanted.Format(time.RFC3339) {
			t.Errorf("line %d: %s: after %s got %s, want %s", line, rule, at.Format(time.RFC3339), next.Format(time.RFC3339), w)
			return
		}
		at = next
	}
}

// mustTime reads RFC 3339 with or without seconds.
func mustTime(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04Z07:00", text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func mustRule(t testing.TB, text string) Rule {
	t.Helper()
	rule, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}
