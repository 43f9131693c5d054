package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// NodeWithCopiesRecord is a node in the output of hourbell nodes.
type NodeWithCopiesRecord struct {
	NodeRecord
	Differs []string `json:"differs"` // owners whose copy on the node's host is not in force
}

// NodeListingWithCopies is NodeListing, with the owners whose copies on the nodes' hosts differ from the
// versions in force.
func NodeListingWithCopies(now time.Time, suspended bool, owners []store.Owner) Listing[store.NodeInfo] {
	differs := map[string][]string{}
	for _, owner := range owners {
		for _, c := range owner.Differing() {
			differs[c.Host] = append(differs[c.Host], owner.Name)
		}
	}
	of := func(n store.NodeInfo) []string {
		if !n.EndedAt.IsZero() {
			return []string{}
		}
		return orEmpty(differs[n.Host])
	}
	l := NodeListing(now, suspended)
	row, columns := l.Row, append([]string{}, l.Columns...)
	l.Columns = append(columns, "DIFFERS")
	l.Row = func(n store.NodeInfo) []string { return append(row(n), plain.Dash(strings.Join(of(n), ","))) }
	l.Record = func(n store.NodeInfo) any { return NodeWithCopiesRecord{NewNodeRecord(n, now, suspended), of(n)} }
	return l
}

// ScheduleWithCopiesRecord is a schedule in the output of hourbell schedules show.
type ScheduleWithCopiesRecord struct {
	ScheduleRecord
	DeclaredBy []string `json:"declared_by"` // hosts whose copy of the owner's file is the version in force
	DiffersOn  []string `json:"differs_on"`  // hosts whose copy is another
}

// NewScheduleWithCopiesRecord returns the record of a schedule with the copies of its owner.
func NewScheduleWithCopiesRecord(s Schedule, owner store.Owner) ScheduleWithCopiesRecord {
	r := ScheduleWithCopiesRecord{NewScheduleRecord(s), orEmpty(owner.Declaring()), []string{}}
	for _, c := range owner.Differing() {
		r.DiffersOn = append(r.DiffersOn, c.Host)
	}
	return r
}

// CopyFacts returns the facts about the copies of a schedule's owner.
func CopyFacts(owner store.Owner) []Fact {
	var differs []string
	for _, c := range owner.Differing() {
		differs = append(differs, fmt.Sprintf("%s since %s (%s)", c.Host, plain.Stamp(c.ChangedAt), c.Path))
	}
	return []Fact{
		{"declared_by", strings.Join(owner.Declaring(), ", ")},
		{"differs_on", strings.Join(differs, ", ")},
	}
}
