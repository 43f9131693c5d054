package locktest

import (
	"errors"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
)

var nameTests = []scenario{
	{"EachByteCounts", nameEachByteCounts},
	{"LongNamesAreNeverCut", nameLong},
	{"QuotesAndPatternsAreText", nameQuotes},
}

func nameEachByteCounts(e *env) {
	e.allDifferent([]string{
		"a", "A", "a b", "a  b", "á", "a\u0301", "Á", "ä", "ae", "æ", "ß", "ss", "ẞ", "i", "I", "İ", "ı", "ﬁ", "fi",
		"Ω", "\u2126", "0", "٠", "é", "e\u0301", "\u200bé", "😀", "😁", "-", "_", "a-", "a_", "ａ",
	}, "x")
}

func nameLong(e *env) {
	long := strings.Repeat("n", check.MaxName-25)
	e.allDifferent([]string{long + "1", long + "2", strings.Repeat("é", 80), strings.Repeat("é", 80) + "e", "n"}, "")
}

func nameQuotes(e *env) {
	e.allDifferent([]string{
		`it's`, `it"s`, `it\s`, "it`s", "it%s", "it_s", "it*s", "it?s", "it[s]", "{it}", "$it", "it:s", "it/s", "it.s", "it;--", "it", "its",
	}, "")
}

// allDifferent takes all of the names at once, alternating between the two
// providers. A provider may refuse a name as bad input.
func (e *env) allDifferent(names []string, end string) {
	e.t.Helper()
	prefix := e.name()[len("locktest "):] + " "
	tokens := map[string]lock.Lease{}
	for i, name := range names {
		name = prefix + name + end
		lease, err := []lock.Provider{e.a, e.b}[i%2].TryLock(e.ctx, e.request(name, 600))
		var refused *check.FieldError
		switch {
		case errors.As(err, &refused):
			e.t.Logf("refused: %v", err)
		case err != nil:
			e.t.Errorf("%q is a name of its own: %v", name, err)
		default:
			tokens[name] = lease
		}
	}
	e.ok(len(tokens) > 0, "some of the names must be taken")
	for name, lease := range tokens {
		e.must(lease.Release(e.ctx))
		e.want(e.state(name).Token, lease.Token(), "each name has its own state")
	}
}
