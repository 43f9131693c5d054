package recur

import (
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestDescribe checks testdata/describe.txt: a rule, and below it its
// description.
func TestDescribe(t *testing.T) {
	text, err := os.ReadFile("testdata/describe.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := 0; i+1 < len(lines); i += 3 {
		if got := mustRule(t, lines[i]).Describe(); got != strings.TrimSpace(lines[i+1]) {
			t.Errorf("%s\ngot  %s\nwant %s", lines[i], got, strings.TrimSpace(lines[i+1]))
		}
	}
}

// checkDescribes checks a property of every rule: its description is one short
// line.
func checkDescribes(t *testing.T, rule Rule) {
	t.Helper()
	text := rule.Describe()
	bad := strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(text, "  ")
	if text == "" || bad || !utf8.ValidString(text) || len(text) > 3000 || strings.TrimSpace(text) != text {
		t.Fatalf("%s: described as %q", rule, text)
	}
}
