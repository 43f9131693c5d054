package main

import (
	"path/filepath"
	"time"

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
