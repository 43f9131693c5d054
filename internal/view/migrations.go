package view

import (
	"fmt"

	"github.com/hourbell/hourbell/store"
)

// MigrationListing shows the steps of the schema.
func MigrationListing() Listing[store.MigrationStatus] {
	return Listing[store.MigrationStatus]{
		Columns: []string{"STEP", "NAME", "APPLIED"},
		Row: func(s store.MigrationStatus) []string {
			applied := "no"
			if s.Applied {
				applied = "yes"
			}
			return []string{fmt.Sprint(s.Version), s.Name, applied}
		},
		Record: func(s store.MigrationStatus) any { return MigrationRecord{s.Version, s.Name, s.Applied} },
	}
}

// MigrationRecord is a step of the schema in machine-readable output. Fields are
// only ever added.
type MigrationRecord struct {
	Step    int    `json:"step"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}
