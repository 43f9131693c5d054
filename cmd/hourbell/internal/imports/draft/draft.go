// Package draft collects what the reader of another scheduler's file finds: schedules, and what has no equal here, each
// with its line. A reader guesses nothing: a setting without an equal becomes a warning if the schedule still rings and
// runs as written, and otherwise a mistake, and then there is no schedule file.
package draft

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

// Source is a file of another scheduler.
type Source struct {
	Path string
	Text []byte
	// Zone is the zone of rules that name none; empty: UTC, with a warning.
	Zone string
	// Section is the part of the file to read, in formats whose files have a part for each environment.
	Section string
	// Other reads another file that belongs to this file.
	Other func(path string) ([]byte, error)
}

// Draft is the set of schedules that a reader makes. A Draft is made by New.
type Draft struct {
	Source
	set    declared.File
	errs   declared.FileError
	named  map[string]int // the line of each name
	warned bool           // about the zone
}

// New returns an empty set. sort is the scheduler's name, which begins the name of the owner.
func New(src Source, sort string) *Draft {
	d := &Draft{Source: src, named: map[string]int{}}
	d.set.Owner = declared.Owner(sort, src.Path)
	declared.CheckText(src.Path, src.Text, &d.errs)
	return d
}

// Mistakes returns the list to which Refuse adds.
func (d *Draft) Mistakes() *declared.FileError { return &d.errs }

// Refuse records a mistake.
func (d *Draft) Refuse(line int, field, problem, remedy string) {
	d.RefuseIn(d.Path, line, field, problem, remedy)
}

// RefuseIn records a mistake in a file that belongs to this file.
func (d *Draft) RefuseIn(path string, line int, field, problem, remedy string) {
	d.errs.Add(declared.Error{File: path, Line: line, Field: field, Problem: problem, Remedy: remedy})
}

// Warn records a setting whose loss does not change when a schedule rings, nor what it runs.
func (d *Draft) Warn(line int, field, problem, remedy string) {
	d.WarnIn(d.Path, line, field, problem, remedy)
}

// WarnIn records a warning about a file that belongs to this file.
func (d *Draft) WarnIn(path string, line int, field, problem, remedy string) {
	d.set.Warn(declared.Error{File: path, Line: line, Field: field, Problem: problem, Remedy: remedy})
}

// NoEqual is what warnings say about a setting that is left out.
const NoEqual = "has no equal here, and is left out"

// Command returns the schedule of a command of a scheduler that neither repeats nor limits it, as cron does.
func Command() hourbell.Schedule {
	return hourbell.Schedule{
		MaxAttempts: 1, OnLoss: hourbell.FailOnLoss, Overlap: hourbell.OverlapAllow, Timeout: hourbell.MaxDuration,
	}
}

// Run makes the command the work of a schedule.
func (d *Draft) Run(s *hourbell.Schedule, line int, command kinds.Command) {
	args, err := command.Encode()
	if d.fields(line, err); err == nil {
		s.Job = hourbell.RawArgs{Name: kinds.CommandKind, JSON: args}
	}
}

// Add adds a schedule that is declared in a line. A rule without a zone gets the zone of the source.
func (d *Draft) Add(line int, s hourbell.Schedule) {
	s.Owner = d.set.Owner
	if first, taken := d.named[s.Name]; taken {
		d.Refuse(line, "name", fmt.Sprintf("%q is also the name in line %d", declared.Label(s.Name, 60), first), "give each a name of its own")
		return
	}
	d.named[s.Name] = line
	if s.When() == "" && d.errs.Err() != nil {
		return // the rule is one of the mistakes
	}
	if s.Job == nil { // the work is one of the mistakes
		s.Job = hourbell.RawArgs{Name: "none"}
	}
	if d.zoned(s.Rule) {
		if s.Rule.Zone = d.Zone; d.Zone == "" {
			s.Rule.Zone = "UTC"
			d.assume(line)
		}
	}
	d.fields(line, s.Validate())
	for _, w := range s.Rule.Warnings() {
		d.Warn(line, fmt.Sprintf("rule %q", declared.Label(w.Value, 60)), w.Problem, w.Remedy)
	}
	d.set.Entries = append(d.set.Entries, declared.Entry{Schedule: s, Line: line})
}

// zoned reports whether a rule needs a zone.
func (d *Draft) zoned(rule recur.Spec) bool {
	named := strings.Contains(rule.Cron, "TZ=") || rule.Dialect == recur.Systemd && eventZone(rule.Cron)
	return rule.Cron != "" && rule.Zone == "" && !named
}

// eventZone reports whether a calendar event names its zone.
func eventZone(event string) bool {
	last := event[strings.LastIndexAny(event, " \t")+1:]
	return last != "" && last != event && recur.Spec{Cron: "@daily", Zone: last}.Validate() == nil
}

// assume warns once that rules are read in UTC.
func (d *Draft) assume(line int) {
	if !d.warned {
		d.warned = true
		d.Warn(line, "tz", "is not in the file: rules without a zone are read in UTC", "give --tz ZONE if the scheduler runs in another zone")
	}
}

// fields records what is wrong with a schedule.
func (d *Draft) fields(line int, err error) {
	for _, f := range declared.Fields(err) {
		d.Refuse(line, f.Title(), f.Problem, f.Remedy)
	}
}

// Set returns the set of schedules, or every mistake as a *declared.FileError.
func (d *Draft) Set() (*declared.File, error) {
	if len(d.set.Entries) == 0 && d.errs.Err() == nil {
		d.Refuse(0, "", "declares no schedule", "name a file that declares schedules, and its format by --format")
	}
	if err := d.errs.Err(); err != nil {
		return nil, err
	}
	d.set.SortWarnings()
	return &d.set, nil
}

// Robfig returns a rule as robfig/cron, and Kubernetes with it, reads it.
func Robfig(text string) recur.Spec {
	if length, found := strings.CutPrefix(text, "@every "); found {
		return recur.Spec{Every: strings.TrimSpace(length)}
	}
	return recur.Spec{Cron: text, Dialect: recur.Kubernetes}
}
