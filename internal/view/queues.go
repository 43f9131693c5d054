package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// QueueListing shows queues.
func QueueListing() Listing[store.QueueInfo] {
	return Listing[store.QueueInfo]{
		Columns: []string{"QUEUE", "READY", "SCHEDULED", "RUNNING", "WAITING", "OLDEST"},
		Row: func(q store.QueueInfo) []string {
			return []string{q.Name, fmt.Sprint(q.Ready), fmt.Sprint(q.Scheduled), fmt.Sprint(q.Running), fmt.Sprint(q.Waiting), plain.Stamp(q.Oldest)}
		},
		Record: func(q store.QueueInfo) any { return NewQueueRecord(q) },
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
	// Oldest is when the oldest of the jobs that are due now was due.
	Oldest *time.Time `json:"oldest"`
}

// NewQueueRecord returns the record of a queue.
func NewQueueRecord(q store.QueueInfo) QueueRecord {
	return QueueRecord{Name: q.Name, Ready: q.Ready, Scheduled: q.Scheduled, Running: q.Running, Waiting: q.Waiting, Oldest: timeOrNull(q.Oldest)}
}
