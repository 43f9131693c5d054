package view

import (
	"fmt"

	"github.com/hourbell/hourbell/store"
)

// QueueListing shows queues.
func QueueListing() Listing[store.QueueInfo] {
	return Listing[store.QueueInfo]{
		Columns: []string{"QUEUE", "READY", "SCHEDULED", "RUNNING", "WAITING"},
		Row: func(q store.QueueInfo) []string {
			return []string{q.Name, fmt.Sprint(q.Ready), fmt.Sprint(q.Scheduled), fmt.Sprint(q.Running), fmt.Sprint(q.Waiting)}
		},
		Record: func(q store.QueueInfo) any {
			return QueueRecord{Name: q.Name, Ready: q.Ready, Scheduled: q.Scheduled, Running: q.Running, Waiting: q.Waiting}
		},
	}
}

// QueueRecord is a queue in machine-readable output. Fields are only ever
// added.
type QueueRecord struct {
	Name      string `json:"name"`
	Ready     int64  `json:"ready"`     // due now
	Scheduled int64  `json:"scheduled"` // due later
	Running   int64  `json:"running"`
	Waiting   int64  `json:"waiting"`
}
