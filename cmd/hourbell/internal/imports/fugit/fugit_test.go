package fugit

import (
	"os"
	"strings"
	"testing"
	"time"
)

// understood is the least number of phrases of testdata/vectors.txt that both Fugit and this package accept.
const understood = 110

// TestVectors compares rules with what Fugit 1.14.0 answered (testdata/vectors.rb). A phrase that Fugit refuses is refused; a phrase
// that Fugit takes may be refused, and otherwise rings at the same instants, also around changes of the clock.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	taken, same := 0, 0
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		rule, problem, remedy := Rule(columns[0])
		if columns[1] == "none" {
			if problem == "" {
				t.Errorf("%q: Fugit refuses it, and here it is %v", columns[0], rule)
			}
			continue
		}
		if taken++; problem != "" {
			if remedy == "" {
				t.Errorf("%q is refused without a remedy: %s", columns[0], problem)
			}
			t.Logf("%q (%s) is refused: it %s", columns[0], columns[1], problem)
			continue
		}
		if rule.Zone == "" {
			rule.Zone = "Europe/Prague"
		}
		r, err := rule.Rule(time.Time{})
		if err != nil {
			t.Errorf("%q: %v", columns[0], err)
			continue
		}
		var at time.Time
		for i, want := range strings.Fields(columns[2]) {
			switch i {
			case 0:
				at = time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC)
			case 4:
				at = time.Date(2027, 10, 30, 12, 0, 0, 0, time.UTC)
			}
			at = r.Next(at).UTC()
			if got := at.Format(time.RFC3339); got != want {
				t.Errorf("%q is %v: instant %d is %s, and for Fugit %s", columns[0], rule, i, got, want)
				break
			}
		}
		same++
	}
	if same < understood {
		t.Errorf("%d of %d phrases are understood, fewer than %d", same, taken, understood)
	}
}
