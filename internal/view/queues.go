package main

import (
	"fmt"

	"github.com/hourbell/hourbell"
)

var queueListing = listing[hourbell.QueueInfo]{
	columns: []string{"QUEUE", "READY", "SCHEDULED", "RUNNING", "WAITING"},
	row: func(q hourbell.QueueInfo) []string {
		return []string{q.Name, fmt.Sprint(q.Ready), fmt.Sprint(q.Scheduled), fmt.Sprint(q.Running), fmt.Sprint(q.Waiting)}
	},
	record: func(q hourbell.QueueInfo) any {
		return queueRecord{Name: q.Name, Ready: q.Ready, Scheduled: q.Scheduled, Running: q.Running, Waiting: q.Waiting}
	},
}

// queueRecord is a queue in machine-readable output. Fields are only ever
// added.
type queueRecord struct {
	Name      string `json:"name"`
	Ready     int64  `json:"ready"`     // due now
	Scheduled int64  `json:"scheduled"` // due later
	Running   int64  `json:"running"`
	Waiting   int64  `json:"waiting"`
}
