package check

import (
	"strings"
	"testing"
)

func TestSegmentsOfDotsAreRefusedForNewNamesAlone(t *testing.T) {
	for _, name := range []string{".", "..", "a/../b", "a/./b", "../a", "./a", "a/..", "a/.", `a\..\b`, `..\a`, `a\.`, `a/b\../c`, "/..", "../", "//../"} {
		if problem, remedy := fault(name); problem == "" || remedy == "" {
			t.Errorf("fault(%q) = %q, %q; the name must be refused with a remedy", name, problem, remedy)
		}
		if problem, _ := storedFault(name); problem != "" {
			t.Errorf("storedFault(%q) = %q; a stored name must be found", name, problem)
		}
	}
	for _, name := range []string{"...", "a..b", "a/...", "a/..b", "a/b..", ".a", "a.", "..a/b", "a/b", `a\b`, "a/.b/c", "/", "/a", "file:..", "..:a"} {
		if problem, _ := fault(name); problem != "" {
			t.Errorf("fault(%q) = %q; the name is good", name, problem)
		}
	}
}

func TestNamesThatCannotBeStored(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("n", MaxName+1), "a\xff", " a", "a\t", "a\nb", "a\u2028b", "a\ufffdb"} {
		if problem, remedy := fault(name); problem == "" || remedy == "" {
			t.Errorf("fault(%q) = %q, %q; the name must be refused with a remedy", name, problem, remedy)
		}
		if problem, _ := storedFault(name); problem == "" {
			t.Errorf("storedFault(%q) finds nothing wrong", name)
		}
	}
}

func TestSentence(t *testing.T) {
	for _, test := range []struct{ field, value, problem, want string }{
		{"args", "", "are nil", "args are nil"},
		{"queue", "a b", "has a space", `queue "a b" has a space`},
		{"cron", "x", "the rule has 1 field", `cron "x": the rule has 1 field`},
		{"cron", "x", `minutes "61" is out of range`, `cron "x": minutes "61" is out of range`},
	} {
		if got := Sentence(test.field, test.value, test.problem); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
