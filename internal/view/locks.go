package main

import (
	"bufio"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/lock"
)

var lockListing = listing[lock.Info]{
	columns: []string{"NAME", "STATE", "UNTIL", "SINCE", "OWNER", "TOKEN", "LAST SLOT"},
	row: func(i lock.Info) []string {
		return []string{i.Name, lockState(i), plain.Stamp(i.Until), plain.Stamp(i.LockedAt), plain.Dash(i.Owner), fmt.Sprint(i.State.Token), plain.Stamp(i.State.Mark.Slot)}
	},
	record: func(i lock.Info) any { return newLockRecord(i) },
}

func lockState(i lock.Info) string {
	if i.Held() {
		return "held"
	}
	return "free"
}

// lockRecord is a lock in machine-readable output. Fields are only ever added.
type lockRecord struct {
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

func newLockRecord(i lock.Info) lockRecord {
	return lockRecord{
		Name: i.Name, State: lockState(i), Owner: orNull(i.Owner), LockedAt: timeOrNull(i.LockedAt), LockUntil: timeOrNull(i.Until),
		Token: orNull(i.State.Token), Slot: timeOrNull(i.State.Mark.Slot), GrantedAt: timeOrNull(i.State.GrantedAt),
		Every: durationOrNull(i.State.Mark.Interval), Anchor: timeOrNull(i.State.Mark.Anchor),
	}
}

// printLock prints a lock as text.
func printLock(out *bufio.Writer, i lock.Info) {
	every := ""
	if i.State.Mark.Interval > 0 {
		every = i.State.Mark.Interval.String()
	}
	printFacts(out, []fact{
		{"lock", i.Name},
		{"state", lockState(i)},
		{"owner", i.Owner},
		{"locked_at", plain.Stamp(i.LockedAt)},
		{"lock_until", plain.Stamp(i.Until)},
		{"token", fmt.Sprint(i.State.Token)},
		{"slot", plain.Stamp(i.State.Mark.Slot)},
		{"granted_at", plain.Stamp(i.State.GrantedAt)},
		{"every", every},
		{"anchor", plain.Stamp(i.State.Mark.Anchor)},
	})
}
