package main

import (
	"path/filepath"
	"time"
)

// fileRecord is a checked file in machine-readable output.
type fileRecord struct {
	File      string          `json:"file"`
	Form      form            `json:"form"`
	Owner     string          `json:"owner"`
	Revision  *int64          `json:"revision"`
	Schedules []entryRecord   `json:"schedules"`
	Warnings  []string        `json:"warnings"`
	LeftAlone []skippedRecord `json:"left_alone"` // ignored files of the same directory
}

type skippedRecord struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

func newFileRecord(file loaded, left []skipped, now time.Time, secrets bool) fileRecord {
	r := fileRecord{
		File: file.path, Form: file.form, Owner: file.set.Owner, Revision: orNull(file.set.Revision),
		Schedules: []entryRecord{}, Warnings: []string{}, LeftAlone: []skippedRecord{},
	}
	for _, entry := range file.set.All() {
		r.Schedules = append(r.Schedules, newEntryRecord(entry, now, secrets))
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
