package plan

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// MaxEarly is how long before a slot its decision may be written.
const MaxEarly = 900 * time.Millisecond

// CanPrefetch reports whether the next slot can be decided on before it is due.
func (p Plan) CanPrefetch(s store.Schedule) bool {
	return s.LastPausedAt().IsZero() && p.PauseAfter == 0 && !p.Follows() && !p.On.Every
}

// OnlyFires reports whether a decision makes the job of the next slot and does nothing else.
func OnlyFires(f store.Firing) bool {
	return len(f.Jobs) == 1 && len(f.Slots) == 0 && f.After == nil &&
		f.Jobs[0].Slot.Equal(f.NextAt) && f.NewMark.Equal(f.NextAt) && !f.Jobs[0].RunAt.Before(f.NextAt)
}

// OnTimeUntil returns until when a slot may be found and still fire as on time.
func (d Definition) OnTimeUntil(slot time.Time) time.Time { return slot.Add(d.grace()) }
