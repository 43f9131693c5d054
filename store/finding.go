package store

import "time"

// Finding is what was found about one subject: by the examination of a store (see Examine of a driver), or by the rules about
// the nodes, the schedules and the jobs in it.
type Finding struct {
	Check  string       // the subject in a word, such as "schema"
	Level  FindingLevel // what it means for nodes
	Found  string       // what was found; without a password
	Remedy string       // what to do; empty if there is nothing to do
	Since  time.Time    // since when, by the store's clock; zero: it is not known
	// What it is about, as far as it is one thing; empty or 0: it is not.
	Node     string
	Schedule string
	Job      int64
}

// FindingLevel is what a finding means for nodes on the store.
type FindingLevel int

// The levels of findings.
const (
	FindingOK      FindingLevel = iota // as it should be
	FindingWarning                     // nodes work, slower or in greater danger than they could
	FindingError                       // nodes do not work, or not as promised, until it is mended
)

// String returns the level's word: ok, warning or error.
func (l FindingLevel) String() string {
	if l < 0 || int(l) >= len(findingWords) {
		return "unknown"
	}
	return findingWords[l]
}

var findingWords = [...]string{"ok", "warning", "error"}
