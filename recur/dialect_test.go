package recur

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDialects compares rules with the answers of Spring and Quartz, which testdata/dialects/README.md describes: a
// rule that both accept has the same instants, or a warning.
func TestDialects(t *testing.T) {
	for _, test := range []struct {
		file, dialect string
		least         int // how many lines are compared
	}{{"spring.txt", Spring, 800}, {"quartz-2.3.txt", Quartz, 500}, {"quartz-2.5.txt", Quartz, 500}} {
		t.Run(test.file, func(t *testing.T) {
			data, err := os.ReadFile("testdata/dialects/" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			same, warned, refused, misses := 0, 0, 0, 0
			for line := range strings.Lines(string(data)) {
				parts := strings.Split(strings.TrimSpace(line), " | ")
				spec := Spec{Cron: parts[1], Zone: parts[0], Dialect: test.dialect}
				rule, err := spec.Rule(time.Time{})
				switch {
				case len(parts) < 4 || strings.HasSuffix(line, " fails\n"):
				case err != nil:
					refused++
					t.Logf("only refused here: %v", err)
				case sameInstants(t, rule, parts[2], strings.Fields(parts[3])):
					same++
				case len(spec.Warnings()) > 0:
					warned++
				case test.file == "quartz-2.5.txt" && parts[2] == "2027-03-27T23:20:00Z" && strings.Contains(parts[1], "W * ?"):
					// Quartz 2.5 that begins on Sunday 28 March misses 28W on Monday the 29th, which it finds if it runs before.
					misses++
				default:
					t.Errorf("%s, %s\nafter %s\n%s", rule, parts[0], parts[2], strings.Join(strings.Fields(parts[3]), "\n"))
				}
			}
			t.Logf("%d lines are the same, %d differ with a warning, %d are refused here only", same, warned, refused)
			if misses > 2 {
				t.Errorf("%d rules differ because of the start, want 2", misses)
			}
			if same < test.least {
				t.Errorf("only %d lines are the same, want %d", same, test.least)
			}
		})
	}
}

// sameInstants reports whether a rule has the given instants after an instant.
func sameInstants(t *testing.T, rule Rule, after string, want []string) bool {
	at := mustTime(t, after)
	var got []string
	for range want {
		if at = rule.Next(at); at.IsZero() {
			got = append(got, "none")
			break
		}
		got = append(got, at.UTC().Format(time.RFC3339))
	}
	return slices.Equal(got, want)
}
