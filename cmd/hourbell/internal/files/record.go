package files

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
)

// Record is a checked file in machine-readable output.
type Record struct {
	File      string             `json:"file"`
	Form      Form               `json:"form"`
	Owner     string             `json:"owner"`
	Revision  *int64             `json:"revision"`
	Limits    []LimitRecord      `json:"limits"`
	Schedules []view.EntryRecord `json:"schedules"`
	Warnings  []string           `json:"warnings"`
	LeftAlone []SkippedRecord    `json:"left_alone"` // ignored files of the same directory
}

// LimitRecord is a limit of a file in machine-readable output.
type LimitRecord struct {
	Name  string `json:"name"`
	Limit string `json:"limit"` // what it bounds, in words
}

// SkippedRecord is an ignored file in machine-readable output.
type SkippedRecord struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// NewRecord returns the record of a file with the ignored files of its directory,
// and the next instants after now. It hides values that may be secrets unless
// secrets is set.
func NewRecord(file Loaded, left []Skipped, now time.Time, secrets bool) Record {
	r := Record{
		File: file.Path, Form: file.Form, Owner: file.Set.Owner,
		Limits: []LimitRecord{}, Schedules: []view.EntryRecord{}, Warnings: []string{}, LeftAlone: []SkippedRecord{},
	}
	if file.Set.Revision != 0 {
		r.Revision = &file.Set.Revision
	}
	for _, l := range file.Set.Limits {
		r.Limits = append(r.Limits, LimitRecord{l.Name, view.LimitText(l)})
	}
	for _, entry := range file.Set.All() {
		r.Schedules = append(r.Schedules, view.NewEntryRecord(entry, now, secrets))
	}
	for _, warning := range file.Set.Warnings {
		r.Warnings = append(r.Warnings, warning.Error())
	}
	for _, s := range left {
		if file.Dir != "" && filepath.Dir(s.Path) == filepath.Clean(file.Dir) {
			r.LeftAlone = append(r.LeftAlone, SkippedRecord{s.Path, s.Reason})
		}
	}
	return r
}

// checkSetting checks a setting of a crontab on this machine; the node that
// runs the lines may be on another machine.
func checkSetting(name, value string) (problem, remedy string) {
	info := Look(value)
	switch {
	case name != "HOME" && name != "SHELL":
	case !filepath.IsAbs(value):
		return "is not a path from / on", "write it in full"
	case name == "HOME" && (info == nil || !info.IsDir()):
		return "is not a directory on this machine", "create it on every machine that runs the lines below"
	case name == "SHELL" && (info == nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0):
		return "is not a program on this machine", "install it on every machine that runs the lines below, or write another"
	}
	return "", ""
}

// WarnLateFailures adds warnings about schedules that follow the failures of another schedule whose retries take long.
func WarnLateFailures(path string, set *declared.File) {
	byName := map[string]hourbell.Schedule{}
	for _, entry := range set.Entries {
		byName[entry.Name] = entry.Schedule
	}
	for _, entry := range set.Entries {
		for _, edge := range entry.After {
			what := fmt.Sprintf("%q", declared.Label(edge.Schedule, 60))
			of := byName[edge.Schedule]
			if problem, remedy := view.LateFailure(edge.On, what, 1, of.MaxAttempts, of.Backoff); problem != "" {
				set.Warn(declared.Error{
					File: path, Line: entry.Line, Entry: fmt.Sprintf("schedule %q", declared.Label(entry.Name, 60)), Field: "after",
					Problem: problem, Remedy: remedy,
				})
			}
		}
	}
	set.SortWarnings()
}

// WarnNever adds warnings about valid rules that have no instant after now.
func WarnNever(file Loaded, now time.Time) {
	for _, entry := range file.Set.Entries {
		if entry.Rule.Cron != "" && len(view.Upcoming(entry, now)) == 0 {
			file.Set.Warn(declared.Error{
				File: file.Path, Line: entry.Line, Field: fmt.Sprintf("rule %q", declared.Label(entry.Rule.Cron, 60)),
				Problem: "never rings from now on", Remedy: "check that its months have its day",
			})
		}
	}
	file.Set.SortWarnings()
}
