package store

import (
	"fmt"
	"time"
)

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

// Examination collects findings about a store.
type Examination struct{ Findings []Finding }

// Add adds a finding.
func (e *Examination) Add(check string, level FindingLevel, found, remedy string) {
	e.Findings = append(e.Findings, Finding{Check: check, Level: level, Found: found, Remedy: remedy})
}

// OK adds a subject that is as it should be.
func (e *Examination) OK(check, found string) { e.Add(check, FindingOK, found, "") }

// Failed adds an error. Most errors contain the remedy.
func (e *Examination) Failed(check string, err error) { e.Add(check, FindingError, err.Error(), "") }

// Steps examines the steps of a schema, which were read unless that failed with err, and reports whether none is missing. none is what an
// empty store is called, and remedy is how the missing steps are applied.
func (e *Examination) Steps(steps []MigrationStatus, err error, none, remedy string) bool {
	applied := 0
	for _, step := range steps {
		if step.Applied {
			applied++
		}
	}
	switch {
	case err != nil:
		e.Failed("schema", err)
	case applied == 0:
		e.OK("schema", none+" has no tables of Hourbell yet; `hourbell migrate up`, or the first node, makes them")
	case applied < len(steps):
		e.Add("schema", FindingError, fmt.Sprintf("the schema is at step %d, and this release needs step %d", applied, len(steps)), remedy)
	default:
		return true
	}
	return false
}
