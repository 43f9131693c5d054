package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
)

// fileRecord is a checked file in machine-readable output.
type fileRecord struct {
	File      string             `json:"file"`
	Form      form               `json:"form"`
	Owner     string             `json:"owner"`
	Revision  *int64             `json:"revision"`
	Schedules []view.EntryRecord `json:"schedules"`
	Warnings  []string           `json:"warnings"`
	LeftAlone []skippedRecord    `json:"left_alone"` // ignored files of the same directory
}

type skippedRecord struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

func newFileRecord(file loaded, left []skipped, now time.Time, secrets bool) fileRecord {
	r := fileRecord{
		File: file.path, Form: file.form, Owner: file.set.Owner,
		Schedules: []view.EntryRecord{}, Warnings: []string{}, LeftAlone: []skippedRecord{},
	}
	if file.set.Revision != 0 {
		r.Revision = &file.set.Revision
	}
	for _, entry := range file.set.All() {
		r.Schedules = append(r.Schedules, view.NewEntryRecord(entry, now, secrets))
	}
	for _, warning := range file.set.Warnings {
		r.Warnings = append(r.Warnings, warning.Error())
	}
	for _, s := range left {
		if file.dir != "" && filepath.Dir(s.path) == filepath.Clean(file.dir) {
			r.LeftAlone = append(r.LeftAlone, skippedRecord{s.path, s.reason})
		}
	}
	return r
}

// checkSetting checks a setting of a crontab on this machine; the node that
// runs the lines may be on another machine.
func checkSetting(name, value string) (problem, remedy string) {
	info := look(value)
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

// warnNever warns about valid rules that have no instant.
func warnNever(file loaded, now time.Time) {
	for _, entry := range file.set.Entries {
		if entry.Rule.Cron != "" && len(view.Upcoming(entry, now)) == 0 {
			file.set.Warn(declared.Error{
				File: file.path, Line: entry.Line, Field: fmt.Sprintf("rule %q", declared.Label(entry.Rule.Cron, 60)),
				Problem: "never rings from now on", Remedy: "check that its months have its day",
			})
		}
	}
	file.set.SortWarnings()
}
