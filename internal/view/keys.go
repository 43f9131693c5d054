package view

import (
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// KeyListing shows the pauses of keys.
func KeyListing() Listing[store.Pause] {
	return Listing[store.Pause]{
		Columns: []string{"KEY", "PAUSED"},
		Row:     func(p store.Pause) []string { return []string{p.Name, plain.Dash(shownPause(p))} },
		Record:  func(p store.Pause) any { return NewKeyRecord(p) },
	}
}

// KeyRecord is a key of jobs and its pause in machine-readable output. Fields are only ever added.
type KeyRecord struct {
	Name        string     `json:"name"`
	PausedAt    *time.Time `json:"paused_at"`
	PausedUntil *time.Time `json:"paused_until"`
	PausedBy    *string    `json:"paused_by"`
	PauseReason *string    `json:"pause_reason"`
}

// NewKeyRecord returns the record of a key.
func NewKeyRecord(p store.Pause) KeyRecord {
	return KeyRecord{Name: p.Name, PausedAt: timeOrNull(p.At), PausedUntil: timeOrNull(p.Until), PausedBy: orNull(p.Actor), PauseReason: orNull(p.Reason)}
}
