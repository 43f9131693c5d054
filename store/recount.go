package store

import "time"

// RecountRequest asks for a step of Permits.RecountPermits.
type RecountRequest struct {
	Now  time.Time
	Node int64 // nothing is done unless it is the oldest living node; 0: in any case
	// Limit is how many lanes are repaired at most, and how many jobs lose permits.
	Limit int
}

// RecountResult is what a step of RecountPermits has changed.
type RecountResult struct {
	Lanes []LaneRepair
	Nodes int  // rows of permits that belonged to nodes or limits that do not exist any more
	Jobs  int  // that lost their permits or left their lane, because no living node runs them
	More  bool // another step has something to do now
	Left  bool // nothing was done, because another node is the oldest
}

// LaneRepair is a lane that counted its permits or its starts wrong.
type LaneRepair struct {
	Limit         string // the name of the limit; empty: the limit has ended
	Key           string // of the lane
	Counted, Held LaneCount
}

// LaneCount is what a lane counts, or what jobs hold together with what was given back and is not passed on yet.
type LaneCount struct {
	Permits int
	Starts  int // that no claim has used; 0 without a rate
}

// Count returns what the lane counts.
func (l *Lane) Count() LaneCount { return LaneCount{Permits: l.Used, Starts: l.Starts} }

// Recount sets what the lane counts to what jobs hold. A lane that counted more before is to be looked at now, because jobs may wait
// for the difference.
func (l *Lane) Recount(held LaneCount) {
	if held.Permits < l.Used || held.Starts < l.Starts {
		l.LookAt = LookNow()
	}
	l.Used, l.Starts = held.Permits, held.Starts
}
