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
			count := func(n int64) string { return shownCount(n, q.Estimated) }
			return []string{q.Name, count(q.Ready), count(q.Scheduled), count(q.Running), count(q.Waiting), plain.Stamp(q.Oldest)}
		},
		Record: func(q store.QueueInfo) any { return NewQueueRecord(q) },
	}
}

// shownCount returns a count as a text; an estimate begins with ~.
func shownCount(n int64, estimated bool) string {
	if estimated {
		return fmt.Sprintf("~%d", n)
	}
	return fmt.Sprint(n)
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
	// Estimated means that the counts are estimates, because there are very many jobs.
	Estimated bool `json:"estimated"`
}

// NewQueueRecord returns the record of a queue.
func NewQueueRecord(q store.QueueInfo) QueueRecord {
	return QueueRecord{Name: q.Name, Ready: q.Ready, Scheduled: q.Scheduled, Running: q.Running, Waiting: q.Waiting, Oldest: timeOrNull(q.Oldest), Estimated: q.Estimated}
}
