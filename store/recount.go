package store

import "time"

// RecountRequest asks for a step of LimitStore.RecountPermits.
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
}

// LaneRepair is a lane whose count of permits in use was wrong.
type LaneRepair struct {
	Limit   string // the name of the limit; empty: the limit has ended
	Key     string // of the lane
	Counted int    // permits that the lane counted
	Held    int    // permits that jobs hold, and that were given back and are not passed on yet
}

// Recount sets the number of permits in use to the number that jobs hold. A lane with fewer permits in use than before is to be
// looked at now, because jobs may wait for them.
func (l *Lane) Recount(held int) {
	if held < l.Used {
		l.LookAt = LookNow()
	}
	l.Used = held
}
