package store

import (
	"fmt"
	"time"
)

// Schedule is a schedule's row. What it runs and when is in Definition, which
// drivers keep byte for byte and never read: a new time rule or policy needs
// no change in any driver.
type Schedule struct {
	ID         int64
	Name       string
	Owner      string
	Revision   int64 // changes with the definition, the owner or a calendar only, and always to a greater number
	Definition []byte
	// Anchor is where intervals count from: the time the schedule was first
	// put. Edits keep it.
	Anchor time.Time
	// Mark says how far the schedule is accounted for. It only moves forward,
	// also through delete and put (reset alone may move it back). It may lie ahead
	// of the clock; see FiredTo.
	Mark time.Time
	// NextAt is when Fire has to look at it again: its next slot, or the time
	// of a change that nobody has planned yet. Zero: it has ended, or is deleted.
	NextAt         time.Time
	Fired          int64     // slots that made a job, for ever
	PausedAt       time.Time // zero: not paused
	PausedUntil    time.Time // slots before it are under the pause; zero: all are
	PausedDeclared bool      // what the last put declared; see PutSchedule.Paused
	CreatedAt      time.Time // first put
	UpdatedAt      time.Time // of the definition
	DeletedAt      time.Time // a tombstone: keeps name, number and mark
	// FailingSince is when the first FollowUp with Failing came since it was
	// well; zero: it is well. Only ListSchedules gives it.
	FailingSince time.Time
	// Failures counts the jobs that failed in a row: follow-ups with JobFailed
	// since it was well, or since the last ResumeSchedules.
	Failures int64
}

// PausedFor says whether a slot falls under the schedule's pause.
func (s *Schedule) PausedFor(slot time.Time) bool {
	return !s.PausedAt.IsZero() && (s.PausedUntil.IsZero() || slot.Before(s.PausedUntil))
}

// PutSchedule is one schedule to be created or changed.
type PutSchedule struct {
	Name       string
	Definition []byte
	// Calendars are those that the definition names, each once. Equal definitions
	// name the same.
	Calendars []string
	// IfRevision, if not 0, must equal the row's revision (ErrConflict).
	IfRevision int64
	// Paused is what the definition declares. It takes effect when the schedule
	// is created or comes back from its tombstone, and when it differs from what
	// the last put declared; otherwise a pause or resume by hand stays. One that
	// is paused already keeps its PausedAt. With an unchanged definition it
	// means nothing.
	Paused bool
}

// PutSchedulesRequest creates or changes schedules of one owner.
//
// A schedule that is new gets anchor, mark and next_at now; one that was deleted
// comes back with its number, under whatever owner asks, and goes on after its
// mark, with a new anchor. An unchanged one (same owner and definition) keeps
// its row as it is. A changed or returned one gets a new revision,
// mark = max(mark, now) and next_at = now, so that a node plans it.
//
// It refuses, and writes nothing: ErrConflict for a wrong IfRevision (any, if
// the schedule does not exist or is deleted), and for a name that lives under
// another owner; ErrNotFound for a calendar that is not there; ErrStale for a SyncRevision older
// than the last one of its owner; ErrUnsettled where a schedule that would change, or be
// deleted, is unsettled: next_at is not after now, and mark before it, so that a
// slot may be due that nobody has accounted for.
type PutSchedulesRequest struct {
	Now       time.Time
	Owner     string
	Schedules []PutSchedule
	// Sync makes the owner's set equal to Schedules: others of this owner are
	// deleted. Needs an owner.
	Sync bool
	// SyncRevision, with Sync or if it is not 0, must not be less than the last
	// one of this owner, and is remembered as that.
	SyncRevision int64
}

// Ordered says whether SyncRevision is compared and remembered.
func (r PutSchedulesRequest) Ordered() bool { return r.Sync || r.SyncRevision != 0 }

// PutSchedulesResult tells what happened to each.
type PutSchedulesResult struct {
	Revisions []int64 // in the order of the request
	Changed   int     // created or changed
	Deleted   int
	// FiredTo is the latest Schedule.FiredTo of those that were changed or deleted.
	FiredTo time.Time
}

// ScheduleAction is what ChangeSchedules does.
type ScheduleAction int

// The actions.
const (
	// PauseSchedules sets PausedAt, unless a pause is on already, and PausedUntil
	// to Until.
	PauseSchedules ScheduleAction = iota
	// ResumeSchedules clears both, and Failures.
	ResumeSchedules
	// DeleteSchedules leaves a tombstone.
	DeleteSchedules
	// ResetSchedules sets mark = now and next_at = now: for a mark that lies
	// ahead of the clock because the clock was wrong. (One that lies ahead by
	// MostAhead or less stays; see Schedule.FiredTo.) Such a schedule is never
	// unsettled; one that is has to be fired first, so that a reset drops no
	// slot that is due. Slots that made a job before do not make another; see
	// Schedules.Fire.
	ResetSchedules
)

// ChangeSchedulesRequest names schedules. Every action refuses with
// ErrUnsettled as PutSchedules does, so that the slots before the change are
// accounted for as what they were; pause and resume leave next_at as it is.
// Pause and resume of what is so already change nothing, and never refuse.
type ChangeSchedulesRequest struct {
	Now    time.Time
	Action ScheduleAction
	Names  []string
	// Until is, for PauseSchedules, when the pause ends by itself; zero: never.
	Until time.Time
}

// ChangeSchedulesResult tells what ChangeSchedules found.
type ChangeSchedulesResult struct {
	// FiredTo is the latest Schedule.FiredTo of those that were named.
	FiredTo time.Time
}

// DueSchedulesRequest asks for schedules that Fire has to look at.
type DueSchedulesRequest struct {
	Now   time.Time
	Limit int
	Names []string // only these; empty: all
	// Ahead is how much later than now they may be due. Not with Names.
	Ahead time.Duration
	// After continues a reading: only what stands after the cursor in its order
	// (next_at ascending, then number ascending). Not with Names.
	After DueCursor
}

// DueCursor is the place of a schedule in the order in which they are due. The
// zero value is before all.
type DueCursor struct {
	NextAt time.Time
	ID     int64
}

// DueSchedulesResult is what is due.
type DueSchedulesResult struct {
	Now       time.Time // the store's clock
	Schedules []Schedule
	// Next is the earliest next_at after now + Ahead, of any schedule; zero: none.
	// Not given with Names.
	Next time.Time
}

// SlotOutcome says what became of a slot.
type SlotOutcome int16

// The outcomes. Drivers store these numbers.
const (
	SlotFired   SlotOutcome = 0 // it made a job
	SlotMissed  SlotOutcome = 1 // nobody was there in time
	SlotSkipped SlotOutcome = 2 // by a rule of the schedule; the reason says which
)

var slotOutcomeNames = [...]string{"fired", "missed", "skipped"}

// String returns the outcome's word.
func (o SlotOutcome) String() string {
	if o < 0 || int(o) >= len(slotOutcomeNames) {
		return fmt.Sprintf("outcome(%d)", int16(o))
	}
	return slotOutcomeNames[o]
}

// SlotRecord accounts for one slot, or for Count slots from Slot to Last that
// had the same fate.
type SlotRecord struct {
	Slot    time.Time
	Last    time.Time // equals Slot for a single one
	Count   int64
	Outcome SlotOutcome
	Reason  string // in words
	// Extend asks to prolong the schedule's newest record (the first that
	// ListSlots gives) instead, if that has the same outcome and reason and
	// ends before Slot: Last is moved, Count added, and the time of recording
	// is now.
	Extend bool
}

// Overlap says what a slot does while a job of its schedule runs.
type Overlap int16

// The choices. Drivers never see them but in Firing.Settle, and to spare
// themselves its live jobs under OverlapAllow.
const (
	OverlapSkip    Overlap = 0 // the slot does not fire
	OverlapAllow   Overlap = 1 // it fires beside
	OverlapQueue   Overlap = 2 // its job waits; one at a time
	OverlapReplace Overlap = 3 // its job waits, and the running one is asked to cancel
)

// MostUnstarted is how many jobs of a schedule that nobody has started yet may
// pile up under OverlapSkip, which they do not count for otherwise.
const MostUnstarted = 100

// Firing accounts for slots of one schedule, decided from the row that
// Revision, Mark, NextAt and PausedAt describe.
type Firing struct {
	Schedule int64
	Revision int64
	Mark     time.Time
	NextAt   time.Time
	PausedAt time.Time
	// NewMark is not before Mark.
	NewMark time.Time
	// NewNextAt is after Mark, or zero at the schedule's end.
	NewNextAt time.Time
	// Slots are records of slots that do not fire.
	Slots []SlotRecord
	// Jobs are the jobs of slots that fire, each with a Slot of its own, unless
	// Overlap forbids it or the slot has made a job before (see Schedules.Fire).
	Jobs    []NewJob
	Overlap Overlap
	// After, if not nil, happens too unless the firing is lost.
	After *FollowUp
}

// LiveJob is a job of a schedule that has not finished.
type LiveJob struct {
	ID      int64
	Slot    time.Time
	Running bool
	Waiting bool
	Attempt int16
	Origin  Origin
}

// Settled is a firing after overlaps are decided.
type Settled struct {
	Jobs      []NewJob     // to insert, each recorded as fired; some are Waiting
	Slots     []SlotRecord // to record besides
	Supersede []int64      // live jobs to end as cancelled with SupersededReason
	Replace   []int64      // waiting jobs to end as cancelled with ReplacedReason
	Cancel    []int64      // running jobs to be asked to cancel, for ReplacedReason
}

// SupersededReason is kept with a job that the schedule's next slot replaced
// while it awaited a retry.
const SupersededReason = "superseded: the schedule's next slot fired while this job awaited a retry"

// ReplacedReason is kept with a job that the schedule's next slot replaced while
// it ran, or waited to start.
const ReplacedReason = "replaced: the schedule's next slot fired before this job had ended"

// MostAhead is how long before its instant a slot may fire, at most.
const MostAhead = time.Second

// FireRequest accounts for slots of any number of schedules, each at most once.
type FireRequest struct {
	Now     time.Time
	Firings []Firing
	// Ahead, at most MostAhead, is how long before next_at a firing may be done.
	// One that is early is done only if no job of its schedule lives, backfilled
	// ones not counted, so that there is no overlap to settle; else it is left out,
	// and Busy. Under OverlapAllow that does not matter. Its jobs have a RunAt that
	// is not before next_at, so that nobody claims them before.
	Ahead time.Duration
	// Until is how long the decisions hold: if now is after it, all are lost.
	// Zero: for ever.
	Until time.Time
}

// FireResult tells what was done.
type FireResult struct {
	Fired []FiredSlot
	Slots []SkippedSlot // recorded without a job
	// Superseded jobs ended as cancelled, those of Settled.Replace too.
	Superseded []int64
	// Asked are running jobs that were asked to cancel.
	Asked []int64
	// Lost are the schedules whose firing was left out, but for those of Busy.
	Lost []int64
	// Busy are schedules whose firing was left out because it was early and one of
	// their jobs lives. It may be sent again when it is due.
	Busy []int64
}

// FiredSlot is a slot and its job.
type FiredSlot struct {
	Schedule int64
	Slot     time.Time
	Job      int64
}

// SkippedSlot is a record without a job.
type SkippedSlot struct {
	Schedule int64
	Record   SlotRecord
}

// ListSchedulesRequest selects schedules. Conditions that are given must all hold.
type ListSchedulesRequest struct {
	Names []string
	IDs   []int64
	Owner *string // nil: any
	// Calendar, if not empty, is one that they name.
	Calendar string
	After    string // only names after this one, in byte order
	Limit    int    // at least 1
	Deleted  bool   // tombstones too
}

// ListSlotsRequest selects records of slots.
type ListSlotsRequest struct {
	Schedule string    // by name; empty: all
	From     time.Time // records whose range ends at or after this
	To       time.Time // … and begins before this
	// Before continues a listing: only records after the cursor in its order
	// (slot descending, then number descending).
	Before SlotCursor
	Limit  int // at least 1
}

// SlotCursor is the place of the last record read. The zero value: from the newest.
type SlotCursor struct {
	Slot time.Time
	ID   int64
}

// SlotInfo is a record as people see it.
type SlotInfo struct {
	ID           int64 // the record's number
	Schedule     int64
	ScheduleName string
	SlotRecord         // Extend is not used
	Job          int64 // for SlotFired
	RecordedAt   time.Time
}
