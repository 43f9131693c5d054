package view

import (
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// GroupListing shows groups.
func GroupListing() Listing[hourbell.GroupInfo] {
	return Listing[hourbell.GroupInfo]{
		Columns: []string{"GROUP", "SCHEDULES", "READY", "SCHEDULED", "RUNNING", "WAITING", "PAUSED"},
		Row: func(g hourbell.GroupInfo) []string {
			count := func(n int64) string { return shownCount(n, g.Estimated) }
			return []string{
				g.Name, count(g.Schedules), count(g.Ready), count(g.Scheduled), count(g.Running), count(g.Waiting),
				plain.Dash(shownPause(g.Pause)),
			}
		},
		Record: func(g hourbell.GroupInfo) any { return NewGroupRecord(g) },
	}
}

// shownPause returns since when and by whom something is paused, until when, and why; empty if it is not paused.
func shownPause(p store.Pause) string {
	if p.At.IsZero() {
		return ""
	}
	parts := []string{"since " + plain.Stamp(p.At)}
	if p.Actor != "" {
		parts = append(parts, "by "+p.Actor)
	}
	if !p.Until.IsZero() {
		parts = append(parts, "until "+plain.Stamp(p.Until))
	}
	text := strings.Join(parts, " ")
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// GroupRecord is a group in machine-readable output: how many schedules it has, how many
// jobs that have not finished, and its pause. Fields are only ever added.
type GroupRecord struct {
	Name        string     `json:"name"`
	Schedules   int64      `json:"schedules"`
	Ready       int64      `json:"ready"`     // due now
	Scheduled   int64      `json:"scheduled"` // due later
	Running     int64      `json:"running"`
	Waiting     int64      `json:"waiting"`
	PausedAt    *time.Time `json:"paused_at"`
	PausedUntil *time.Time `json:"paused_until"`
	PausedBy    *string    `json:"paused_by"`
	PauseReason *string    `json:"pause_reason"`
	// Estimated means that the counts are estimates, because there are very many jobs or schedules.
	Estimated bool `json:"estimated"`
}

// NewGroupRecord returns the record of a group.
func NewGroupRecord(g hourbell.GroupInfo) GroupRecord {
	return GroupRecord{
		Name: g.Name, Schedules: g.Schedules, Ready: g.Ready, Scheduled: g.Scheduled, Running: g.Running, Waiting: g.Waiting,
		PausedAt: timeOrNull(g.Pause.At), PausedUntil: timeOrNull(g.Pause.Until), PausedBy: orNull(g.Pause.Actor), PauseReason: orNull(g.Pause.Reason),
		Estimated: g.Estimated,
	}
}

// TriggeredRecord is a job that was made for a schedule by hand, in machine-readable
// output.
type TriggeredRecord struct {
	Schedule string `json:"schedule"`
	ID       int64  `json:"id"`
}
