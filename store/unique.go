package store

import (
	"fmt"
	"time"
)

// Conflict is what an insert found for a job whose key another job has, and
// what it did with the other job.
type Conflict int16

// The conflicts.
const (
	ConflictNone Conflict = 0 // the key was free, and the job was stored
	ConflictKept Conflict = 1 // a live job has the key; it stays as it is
	ConflictHeld Conflict = 4 // a job that has ended holds the key (NewJob.UniqueFor)
)

var conflictNames = map[Conflict]string{ConflictNone: "", ConflictKept: "kept", ConflictHeld: "held"}

// String returns the conflict's word; empty for ConflictNone.
func (c Conflict) String() string {
	name, known := conflictNames[c]
	if !known {
		return fmt.Sprintf("conflict(%d)", int16(c))
	}
	return name
}

// Again returns the answer for another job of a request with the key of the job
// that got the answer i.
func (i Inserted) Again() Inserted {
	if !i.Existed {
		return Inserted{ID: i.ID, Existed: true, Conflict: ConflictKept}
	}
	return i
}

// KeyHolder is the job that has a key; ID is 0 if the key is free.
type KeyHolder struct {
	ID   int64
	Live bool // not finished; otherwise it holds the key after its end
}

// Conflict is the rule for an insert whose key another job has.
func (h KeyHolder) Conflict() Conflict {
	switch {
	case h.ID == 0:
		return ConflictNone
	case h.Live:
		return ConflictKept
	}
	return ConflictHeld
}

// KeyHold means that a job holds its key until an instant, also after its end.
// Until then the row of the finished job is not pruned.
type KeyHold struct {
	JobKey
	ID    int64
	Until time.Time
}

// KeyHolds returns the holds of new jobs with UniqueFor that an insert stored.
func KeyHolds(jobs []NewJob, inserted []Inserted, now time.Time) []KeyHold {
	var holds []KeyHold
	for i := range jobs {
		if n := &jobs[i]; n.UniqueFor > 0 && !inserted[i].Existed {
			holds = append(holds, KeyHold{JobKey{n.Kind, n.Unique}, inserted[i].ID, now.Add(n.UniqueFor)})
		}
	}
	return holds
}

// HasKeys reports whether any of the jobs has a key.
func HasKeys(jobs []NewJob) bool {
	for i := range jobs {
		if jobs[i].Unique != "" {
			return true
		}
	}
	return false
}

// SameKeys returns the jobs whose kind and key a job before them in the list
// has: their indexes, each with the index of the first such job.
func SameKeys(jobs []NewJob) map[int]int {
	first, same := map[JobKey]int{}, map[int]int{}
	for i := range jobs {
		if jobs[i].Unique == "" {
			continue
		}
		k := JobKey{jobs[i].Kind, jobs[i].Unique}
		if earlier, found := first[k]; found {
			same[i] = earlier
		} else {
			first[k] = i
		}
	}
	return same
}
