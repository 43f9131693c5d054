package recur

import (
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zone data for machines that have none
)

// TestNextCases checks testdata/next.txt, which explains its own format.
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
		zone, rest, ok := strings.Cut(line, " | ")
		columns := strings.Split(rest, " | ") // a union contains bars too
		last := len(columns) - 1
		if !ok || last < 2 {
			t.Fatalf("line %d: %d columns, want 4", i+1, len(columns)+1)
		}
		c := ringCase{t, i + 1, strings.Join(columns[:last-1], " | "), columns[last-1]}
		if last == 2 {
			c.rule += " tz " + zone
		}
		c.check(strings.Fields(columns[last]))
	}
	if cases < 400 {
		t.Errorf("only %d cases found", cases)
	}
}

// ringCase is a line of the file.
type ringCase struct {
	*testing.T
	line        int
	rule, after string
}

func (c ringCase) check(want []string) {
	c.Helper()
	rule, err := Parse(c.rule)
	if want[0] == "error" {
		if err == nil {
			c.Errorf("line %d: %s: no error", c.line, c.rule)
		}
		return
	}
	if err != nil {
		c.Errorf("line %d: %v", c.line, err)
		return
	}
	checkParsesBack(c.T, rule)
	checkDescribes(c.T, rule)
	after := mustTime(c, c.after)
	at := after
	for n, w := range want {
		next := rule.Next(at)
		if w == "none" {
			if !next.IsZero() {
				c.Errorf("line %d: %s: after %s got %s, want none", c.line, rule, stampOf(at), stampOf(next))
			}
			return
		}
		if wanted := mustTime(c, w); stampOf(next) != stampOf(wanted) {
			c.Errorf("line %d: %s: after %s got %s, want %s", c.line, rule, stampOf(at), stampOf(next), w)
			return
		}
		prev := rule.Prev(next)
		if n == 0 && prev.After(after) || n > 0 && !prev.Equal(at) {
			c.Errorf("line %d: %s: before %s got %s, want %s or earlier", c.line, rule, stampOf(next), stampOf(prev), stampOf(at))
		}
		if got, more := Count(rule, after, next, 1000); got != int64(n+1) || more {
			c.Errorf("line %d: %s: %d instants after %s up to %s, want %d", c.line, rule, got, stampOf(after), stampOf(next), n+1)
		}
		at = next
	}
}

func stampOf(t time.Time) string { return t.Format(time.RFC3339Nano) }

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
