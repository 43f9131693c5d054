package view

import (
	"fmt"

	"github.com/hourbell/hourbell/store"
)

// GroupListing shows groups.
func GroupListing() Listing[store.GroupInfo] {
	return Listing[store.GroupInfo]{
		Columns: []string{"GROUP", "SCHEDULES", "READY", "SCHEDULED", "RUNNING", "WAITING"},
		Row: func(g store.GroupInfo) []string {
			return []string{g.Name, fmt.Sprint(g.Schedules), fmt.Sprint(g.Ready), fmt.Sprint(g.Scheduled), fmt.Sprint(g.Running), fmt.Sprint(g.Waiting)}
		},
		Record: func(g store.GroupInfo) any {
			return GroupRecord{Name: g.Name, Schedules: g.Schedules, Ready: g.Ready, Scheduled: g.Scheduled, Running: g.Running, Waiting: g.Waiting}
		},
	}
}

// GroupRecord is a group in machine-readable output: how many schedules it has, and how
// many jobs that have not finished. Fields are only ever added.
type GroupRecord struct {
	Name      string `json:"name"`
	Schedules int64  `json:"schedules"`
	Ready     int64  `json:"ready"`     // due now
	Scheduled int64  `json:"scheduled"` // due later
	Running   int64  `json:"running"`
	Waiting   int64  `json:"waiting"`
}

// TriggeredRecord is a job that was made for a schedule by hand, in machine-readable
// output.
type TriggeredRecord struct {
	Schedule string `json:"schedule"`
	ID       int64  `json:"id"`
}
