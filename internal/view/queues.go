package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// QueueListing shows queues.
func QueueListing() Listing[hourbell.QueueInfo] {
	return Listing[hourbell.QueueInfo]{
		Columns: []string{"QUEUE", "READY", "SCHEDULED", "RUNNING", "WAITING", "OLDEST", "PAUSED"},
		Row: func(q hourbell.QueueInfo) []string {
			count := func(n int64) string { return shownCount(n, q.Estimated) }
			return []string{
				q.Name, count(q.Ready), count(q.Scheduled), count(q.Running), count(q.Waiting), plain.Stamp(q.Oldest),
				plain.Dash(shownPause(q.Pause)),
			}
		},
		Record: func(q hourbell.QueueInfo) any { return NewQueueRecord(q) },
	}
}

// KindListing shows kinds.
func KindListing() Listing[hourbell.KindInfo] {
	queues := QueueListing()
	return Listing[hourbell.KindInfo]{
		Columns: append([]string{"KIND"}, queues.Columns[1:]...),
		Row:     func(k hourbell.KindInfo) []string { return queues.Row(asQueue(k)) },
		Record:  func(k hourbell.KindInfo) any { return NewKindRecord(k) },
	}
}

// asQueue returns a kind as a queue, which has the same counts.
func asQueue(k hourbell.KindInfo) hourbell.QueueInfo {
	return hourbell.QueueInfo{QueueInfo: store.QueueInfo(k.KindInfo), Pause: k.Pause}
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
	Estimated   bool       `json:"estimated"`
	PausedAt    *time.Time `json:"paused_at"`
	PausedUntil *time.Time `json:"paused_until"`
	PausedBy    *string    `json:"paused_by"`
	PauseReason *string    `json:"pause_reason"`
}

// NewQueueRecord returns the record of a queue.
func NewQueueRecord(q hourbell.QueueInfo) QueueRecord {
	return QueueRecord{
		Name: q.Name, Ready: q.Ready, Scheduled: q.Scheduled, Running: q.Running, Waiting: q.Waiting, Oldest: timeOrNull(q.Oldest), Estimated: q.Estimated,
		PausedAt: timeOrNull(q.Pause.At), PausedUntil: timeOrNull(q.Pause.Until), PausedBy: orNull(q.Pause.Actor), PauseReason: orNull(q.Pause.Reason),
	}
}

// KindRecord is a kind in machine-readable output. Fields are only ever added.
type KindRecord QueueRecord

// NewKindRecord returns the record of a kind.
func NewKindRecord(k hourbell.KindInfo) KindRecord { return KindRecord(NewQueueRecord(asQueue(k))) }
