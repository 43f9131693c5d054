package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/lock"
)

// LockListing shows locks.
func LockListing() Listing[lock.Info] {
	return Listing[lock.Info]{
		Columns: []string{"NAME", "STATE", "UNTIL", "SINCE", "OWNER", "TOKEN", "LAST SLOT"},
		Minor:   []string{"LAST SLOT", "TOKEN", "SINCE"},
		Row: func(i lock.Info) []string {
			return []string{
				i.Name, LockState(i), plain.Stamp(i.Until), plain.Stamp(i.LockedAt), plain.Dash(i.Owner),
				fmt.Sprint(i.State.Token), plain.Stamp(i.State.Mark.Slot),
			}
		},
		Record: func(i lock.Info) any { return NewLockRecord(i) },
	}
}

// LockState returns the word for a lock's state: held or free.
func LockState(i lock.Info) string {
	if i.Held() {
		return "held"
	}
	return "free"
}

// LockRecord is a lock in machine-readable output. Fields are only ever added.
type LockRecord struct {
	Name      string     `json:"name"`
	State     string     `json:"state"`
	Owner     *string    `json:"owner"`
	LockedAt  *time.Time `json:"locked_at"`
	LockUntil *time.Time `json:"lock_until"`
	Token     *int64     `json:"token"`
	Slot      *time.Time `json:"slot"`
	GrantedAt *time.Time `json:"granted_at"`
	Every     *string    `json:"every"`
	Anchor    *time.Time `json:"anchor"`
}

// NewLockRecord returns the record of a lock.
func NewLockRecord(i lock.Info) LockRecord {
	return LockRecord{
		Name: i.Name, State: LockState(i), Owner: orNull(i.Owner), LockedAt: timeOrNull(i.LockedAt), LockUntil: timeOrNull(i.Until),
		Token: orNull(i.State.Token), Slot: timeOrNull(i.State.Mark.Slot), GrantedAt: timeOrNull(i.State.GrantedAt),
		Every: durationOrNull(i.State.Mark.Interval), Anchor: timeOrNull(i.State.Mark.Anchor),
	}
}

// LockFacts returns the facts about a lock.
func LockFacts(i lock.Info) []Fact {
	every := ""
	if i.State.Mark.Interval > 0 {
		every = i.State.Mark.Interval.String()
	}
	return []Fact{
		{"lock", i.Name},
		{"state", LockState(i)},
		{"owner", i.Owner},
		{"locked_at", plain.Stamp(i.LockedAt)},
		{"lock_until", plain.Stamp(i.Until)},
		{"token", fmt.Sprint(i.State.Token)},
		{"slot", plain.Stamp(i.State.Mark.Slot)},
		{"granted_at", plain.Stamp(i.State.GrantedAt)},
		{"every", every},
		{"anchor", plain.Stamp(i.State.Mark.Anchor)},
	}
}
