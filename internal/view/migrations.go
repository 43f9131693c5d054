package main

import (
	"fmt"

	"github.com/hourbell/hourbell/store"
)

var stepListing = listing[store.MigrationStatus]{
	columns: []string{"STEP", "NAME", "APPLIED"},
	row: func(s store.MigrationStatus) []string {
		applied := "no"
		if s.Applied {
			applied = "yes"
		}
		return []string{fmt.Sprint(s.Version), s.Name, applied}
	},
	record: func(s store.MigrationStatus) any { return stepRecord{s.Version, s.Name, s.Applied} },
}

// stepRecord is a step of the schema in machine-readable output. Fields are
// only ever added.
type stepRecord struct {
	Step    int    `json:"step"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}
