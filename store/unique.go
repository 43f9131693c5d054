package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// OnConflict is what an insert does with a job whose key a live job has.
type OnConflict int16

// The choices.
const (
	OnConflictKeep       OnConflict = 0 // nothing changes (default)
	OnConflictReplace    OnConflict = 1 // the live job becomes what the new job is, but keeps its number and its time
	OnConflictReschedule OnConflict = 2 // the live job keeps what it is, and is due when the new job would be due
	OnConflictError      OnConflict = 3 // the insert is refused with a DuplicateError
)

var onConflictNames = [...]string{"keep", "replace", "reschedule", "error"}

// String returns the choice's word.
func (o OnConflict) String() string {
	if o < 0 || int(o) >= len(onConflictNames) {
		return fmt.Sprintf("on_conflict(%d)", int16(o))
	}
	return onConflictNames[o]
}

// ParseOnConflict is the inverse of String.
func ParseOnConflict(text string) (OnConflict, bool) {
	i := slices.Index(onConflictNames[:], text)
	return OnConflict(max(i, 0)), i >= 0
}

// Conflict is what an insert found for a job whose key another job has, and
// what it did with the other job.
type Conflict int16

// The conflicts.
const (
	ConflictNone        Conflict = 0 // the key was free, and the job was stored
	ConflictKept        Conflict = 1 // a live job has the key; it stays as it is
	ConflictReplaced    Conflict = 2 // a live job has the key; it is what the new job is now
	ConflictRescheduled Conflict = 3 // a live job has the key; its run_at has changed
	ConflictHeld        Conflict = 4 // a job that has ended holds the key (NewJob.UniqueFor)
	// ConflictAgain: a job with the key was running. The new job was stored, has the key from now on,
	// and waits for the end of that job.
	ConflictAgain Conflict = 5
)

var conflictNames = [...]string{"", "kept", "replaced", "rescheduled", "held", "again"}

// String returns the conflict's word; empty for ConflictNone.
func (c Conflict) String() string {
	if c < 0 || int(c) >= len(conflictNames) {
		return fmt.Sprintf("conflict(%d)", int16(c))
	}
	return conflictNames[c]
}

// ErrDuplicate means that another job has the key of a job with OnConflictError.
var ErrDuplicate = errors.New("another job has the key")

// DuplicateError is an ErrDuplicate with the job that has the key.
type DuplicateError struct {
	// Index is the place of the refused job in its request, from 0.
	Index int
	// ID is the number of the job that has the key; 0 if a job before it in the
	// request has the key and was not stored either.
	ID int64
	// Conflict is ConflictKept, or ConflictHeld if the other job has ended.
	Conflict Conflict
}

// Error describes the conflict.
func (e *DuplicateError) Error() string {
	switch {
	case e.ID == 0:
		return fmt.Sprintf("job %d of the request has the key of a job before it; nothing was stored", e.Index+1)
	case e.Conflict == ConflictHeld:
		return fmt.Sprintf("job %d has ended and still holds the key; nothing was stored", e.ID)
	}
	return fmt.Sprintf("job %d has the key; nothing was stored", e.ID)
}

// Unwrap returns ErrDuplicate.
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// Duplicate returns the error for the first job with OnConflictError whose key
// another job has, or nil.
func Duplicate(jobs []NewJob, answers []Inserted) error {
	var stored map[int64]bool // the numbers of jobs that the error takes back
	for i := range jobs {
		if !answers[i].Existed {
			if stored == nil {
				stored = map[int64]bool{}
			}
			stored[answers[i].ID] = true
		}
		if jobs[i].OnConflict != OnConflictError || !answers[i].Existed {
			continue
		}
		if stored[answers[i].ID] {
			return &DuplicateError{Index: i}
		}
		return &DuplicateError{Index: i, ID: answers[i].ID, Conflict: answers[i].Conflict}
	}
	return nil
}

// Again returns the answer for another job of a request, with OnConflictKeep and
// the key of the job that got the answer i.
func (i Inserted) Again() Inserted {
	if i.Conflict != ConflictHeld {
		i.Existed, i.Conflict = true, ConflictKept
	}
	return i
}

// KeyHolder is the job that has a key; ID is 0 if the key is free.
type KeyHolder struct {
	ID   int64
	Live bool // not finished; otherwise it holds the key after its end
	// The other fields are needed for live jobs only. Begun: it is running, or
	// an attempt of it has ended, also an attempt that was refunded by a snooze or
	// after a lost lease.
	Begun, Running bool
	// InBatch: other jobs may follow it, so that it is not changed.
	InBatch bool
	// Holds: NewJob.UniqueFor is not over.
	Holds            bool
	Queue            string
	Priority         int16
	RunAt, CreatedAt time.Time
}

// Holder returns the job as the holder of its key, right after its insert.
func (n *NewJob) Holder(now time.Time) KeyHolder {
	runAt := n.RunAt.UTC().Truncate(time.Microsecond)
	if n.RunAt.IsZero() {
		runAt = now.Add(n.Delay.Truncate(time.Microsecond))
	}
	return KeyHolder{Live: true, InBatch: n.Batch != 0, Holds: n.HoldsKey(), Queue: n.Queue, Priority: n.Priority, RunAt: runAt, CreatedAt: now}
}

// Takes reports whether a new job is stored although a live job has its key, which passes to the
// new job: from the job TakesFrom, with UntilStart from a job that has begun, and to run again from a job
// that runs (ConflictAgain). A key that is held (UniqueFor) does not pass.
func (n *NewJob) Takes(h KeyHolder) bool {
	return h.Live && !h.Holds && (n.TakesFrom != 0 && h.ID == n.TakesFrom || n.UntilStart && h.Begun || n.Awaits(h.ID) && h.Running)
}

// MayTake reports whether Takes can hold.
func (n *NewJob) MayTake() bool {
	return n.Unique != "" && (n.UntilStart || n.TakesFrom != 0 || n.Changes())
}

// Awaits reports whether the job, if it takes the key of a job, waits for the end of that job.
func (n *NewJob) Awaits(holder int64) bool {
	return !n.UntilStart && n.TakesFrom != holder && n.Changes()
}

// Changes reports whether the job may change another job that has its key.
func (n *NewJob) Changes() bool {
	return n.OnConflict == OnConflictReplace || n.OnConflict == OnConflictReschedule
}

// Meet is the rule for a new job whose key another job may have: what becomes
// of the other job, and its run_at, which is never before now if it changes, so
// that claims find the job where they look.
func (n *NewJob) Meet(h KeyHolder, now time.Time) (c Conflict, runAt time.Time) {
	switch {
	case h == KeyHolder{}:
		return ConflictNone, time.Time{}
	case !h.Live:
		return ConflictHeld, time.Time{}
	case n.Takes(h) && n.Awaits(h.ID):
		return ConflictAgain, time.Time{}
	case n.Takes(h):
		return ConflictNone, time.Time{}
	case h.Running, h.InBatch, h.Begun && n.OnConflict != OnConflictReplace:
		return ConflictKept, h.RunAt
	}
	return n.change(h, now)
}

// change is Meet for another job that the new job may change.
func (n *NewJob) change(h KeyHolder, now time.Time) (c Conflict, runAt time.Time) {
	switch n.OnConflict {
	case OnConflictReplace:
		if (h.Queue != n.Queue || h.Priority != n.Priority) && h.RunAt.Before(now) {
			return ConflictReplaced, now
		}
		return ConflictReplaced, h.RunAt
	case OnConflictReschedule:
		if at := n.pushed(h, now); !at.Equal(h.RunAt) && (at.After(now) || h.RunAt.After(now)) {
			return ConflictRescheduled, at
		}
	}
	return ConflictKept, h.RunAt
}

// pushed returns when a live job is due after a reschedule.
func (n *NewJob) pushed(h KeyHolder, now time.Time) time.Time {
	at := n.RunAt.UTC().Truncate(time.Microsecond)
	if n.RunAt.IsZero() {
		at = now.Add(n.Delay.Truncate(time.Microsecond))
	}
	if n.PushAtMost > 0 {
		latest := h.CreatedAt.Add(n.PushAtMost.Truncate(time.Microsecond))
		if latest.Before(h.RunAt) {
			latest = h.RunAt
		}
		if at.After(latest) {
			at = latest
		}
	}
	if at.Before(now) {
		return now
	}
	return at
}

// HoldsKey reports whether the key of the job stays taken after its end.
func (n *NewJob) HoldsKey() bool { return n.Unique != "" && n.UniqueFor > 0 }

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
		if n := &jobs[i]; n.HoldsKey() && !inserted[i].Existed {
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
