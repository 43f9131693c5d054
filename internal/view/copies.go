package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// NodeWithCopiesRecord is a node in the output of hourbell nodes, and in the API.
type NodeWithCopiesRecord struct {
	NodeRecord
	Differs []string `json:"differs" nullable:"false"` // owners whose copy on the node's host is not in force
}

// Differing returns a function that returns the owners whose copies on the host of a node, if the node lives, differ from the versions
// in force.
func Differing(owners []store.Owner) func(store.NodeInfo) []string {
	differs := map[string][]string{}
	for _, owner := range owners {
		for _, c := range owner.Differing() {
			differs[c.Host] = append(differs[c.Host], owner.Name)
		}
	}
	return func(n store.NodeInfo) []string {
		if !n.EndedAt.IsZero() {
			return nil
		}
		return differs[n.Host]
	}
}

// NodeListingWithCopies is NodeListing, with the owners whose copies on the nodes' hosts differ from the
// versions in force.
func NodeListingWithCopies(now time.Time, suspended bool, owners []store.Owner) Listing[store.NodeInfo] {
	of := Differing(owners)
	l := NodeListing(now, suspended)
	row, columns := l.Row, append([]string{}, l.Columns...)
	l.Columns = append(columns, "DIFFERS")
	l.Row = func(n store.NodeInfo) []string { return append(row(n), plain.Dash(strings.Join(of(n), ","))) }
	l.Record = func(n store.NodeInfo) any { return NewNodeWithCopiesRecord(n, now, suspended, of(n)) }
	return l
}

// NewNodeWithCopiesRecord returns the record of a node with the owners whose copies on its host differ.
func NewNodeWithCopiesRecord(n store.NodeInfo, now time.Time, suspended bool, differs []string) NodeWithCopiesRecord {
	return NodeWithCopiesRecord{NewNodeRecord(n, now, suspended), orEmpty(differs)}
}

// ReadOwners reads the owners with copies on hosts: all, or the owners with the given names.
func ReadOwners(ctx context.Context, client *hourbell.Client, names ...string) (owners []store.Owner, err error) {
	filter := hourbell.OwnerFilter{Names: names, Limit: 1000}
	for {
		page, err := client.Schedules.Owners(ctx, filter)
		if err != nil {
			return nil, err
		}
		if owners = append(owners, page...); len(page) < filter.Limit {
			return owners, nil
		}
		filter.After = page[len(page)-1].Name
	}
}

// OwnersOf reads the owners of schedules, by name.
func OwnersOf(ctx context.Context, client *hourbell.Client, schedules ...hourbell.ScheduleInfo) (map[string]store.Owner, error) {
	found := map[string]store.Owner{}
	var names []string
	for _, s := range schedules {
		if _, known := found[s.Owner]; !known && s.Owner != "" && s.MadeFrom == "" {
			found[s.Owner] = store.Owner{}
			names = append(names, s.Owner)
		}
	}
	if len(names) == 0 {
		return found, nil
	}
	owners, err := ReadOwners(ctx, client, names...)
	for _, owner := range owners {
		found[owner.Name] = owner
	}
	return found, err
}

// Around is what is shown about one schedule besides the schedule: its owner with its copies and, if it is on every host, the
// schedules of its hosts.
type Around struct {
	Owner store.Owner
	Hosts []hourbell.ScheduleInfo
}

// ReadAround reads what is shown besides a schedule.
func ReadAround(ctx context.Context, client *hourbell.Client, s hourbell.ScheduleInfo) (a Around, err error) {
	owners, err := OwnersOf(ctx, client, s)
	if err != nil {
		return a, err
	}
	a.Owner = owners[s.Owner]
	if s.On.Every {
		a.Hosts, err = client.Schedules.OnHosts(ctx, s.Name)
	}
	return a, err
}

// Facts returns the facts about the copies of the owner, and about the hosts.
func (a Around) Facts() []Fact { return append(copyFacts(a.Owner), hostFacts(a.Hosts)...) }

// ScheduleWithCopiesRecord is a schedule with the copies of its owner.
type ScheduleWithCopiesRecord struct {
	ScheduleRecord
	DeclaredBy []string `json:"declared_by" nullable:"false"` // hosts whose copy of the owner's file is the version in force
	DiffersOn  []string `json:"differs_on" nullable:"false"`  // hosts whose copy is another
}

// OneScheduleRecord is a schedule in the output of hourbell schedules show, and in the answers of the API about one schedule.
type OneScheduleRecord struct {
	ScheduleWithCopiesRecord
	// The hosts of a schedule on every host; empty for any other schedule.
	Hosts []HostRecord `json:"hosts" nullable:"false"`
	// What of its rule is valid but probably a mistake, such as a rule of Quartz without its dialect.
	Warnings []string `json:"warnings" nullable:"false"`
}

// HostRecord is the schedule of a host that is made from a schedule on every host.
type HostRecord struct {
	Host     string     `json:"host"`
	Schedule string     `json:"schedule"`
	State    string     `json:"state"`
	NextAt   *time.Time `json:"next_at"`
	Mark     *time.Time `json:"mark"`
	Fired    int64      `json:"fired"`
	Failures int64      `json:"failures"` // in succession, if it has pause_after_failures
	Waits    *string    `json:"waits"`    // why no living node fires its slots
}

// NewHostRecords returns the records of the schedules of hosts.
func NewHostRecords(hosts []hourbell.ScheduleInfo) []HostRecord {
	records := make([]HostRecord, len(hosts))
	for i, s := range hosts {
		records[i] = HostRecord{
			Host: s.On.Host, Schedule: s.Name, State: s.State(), NextAt: timeOrNull(s.NextAt), Mark: timeOrNull(s.Mark),
			Fired: s.Fired, Failures: s.Failures, Waits: orNull(s.Waits),
		}
	}
	return records
}

// hostFacts returns the facts about the hosts of a schedule on every host.
func hostFacts(hosts []hourbell.ScheduleInfo) []Fact {
	var texts []string
	for _, s := range hosts {
		text := fmt.Sprintf("%s %s, %d fired", s.On.Host, s.State(), s.Fired)
		if s.Waits != "" {
			text += " (" + s.Waits + ")"
		}
		texts = append(texts, text)
	}
	return []Fact{{"hosts", strings.Join(texts, "; ")}}
}

// NewOneScheduleRecord returns the record of a schedule with what is shown besides it.
func NewOneScheduleRecord(s Schedule, a Around) OneScheduleRecord {
	r := OneScheduleRecord{NewScheduleWithCopiesRecord(s, a.Owner), NewHostRecords(a.Hosts), []string{}}
	for _, w := range s.Rule.Warnings() {
		r.Warnings = append(r.Warnings, w.Error())
	}
	return r
}

// NewScheduleWithCopiesRecord returns the record of a schedule with the copies of its owner.
func NewScheduleWithCopiesRecord(s Schedule, owner store.Owner) ScheduleWithCopiesRecord {
	r := ScheduleWithCopiesRecord{NewScheduleRecord(s), orEmpty(owner.Declaring()), []string{}}
	for _, c := range owner.Differing() {
		r.DiffersOn = append(r.DiffersOn, c.Host)
	}
	return r
}

// copyFacts returns the facts about the copies of a schedule's owner.
func copyFacts(owner store.Owner) []Fact {
	var differs []string
	for _, c := range owner.Differing() {
		differs = append(differs, fmt.Sprintf("%s since %s (%s)", c.Host, plain.Stamp(c.ChangedAt), c.Path))
	}
	return []Fact{
		{"declared_by", strings.Join(owner.Declaring(), ", ")},
		{"differs_on", strings.Join(differs, ", ")},
	}
}
