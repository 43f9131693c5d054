package store

import (
	"fmt"
	"time"
)

// Schedule is a schedule's row. Definition has its job, rule and policies;
// drivers store it byte for byte and never read it, so that a new time rule or
// policy needs no change in any driver.
type Schedule struct {
	ID         int64
	Name       string
	Owner      string
	Revision   int64 // 1 at first; one more after each change of the definition, the owner or a calendar, also of a schedule that comes back
	Definition []byte
	Group      string // of the schedule and its jobs, or empty; it changes only with the definition
	// Anchor is the instant from which intervals are counted: when the schedule
	// was first put. Edits keep it.
	Anchor time.Time
	// Mark is the instant up to which the schedule's slots are accounted for. It
	// only moves forward, also through delete and put (only a reset may move it
	// back). It may be later than the clock.
	Mark time.Time
	// NextAt is when Fire has to account for the schedule next: its next slot,
	// or the time of a change that no node has planned yet. Zero: it has ended,
	// or is deleted.
	NextAt         time.Time
	Fired          int64     // slots that made a job, for ever
	PausedAt       time.Time // zero: not paused
	PausedUntil    time.Time // slots before it are paused; zero: all slots are
	PausedDeclared bool      // what the last put declared; see PutSchedule.Paused
	// GroupPausedAt and GroupPausedUntil are the pause of its group: what PausedAt and
	// PausedUntil are for its own pause. A put, and Put and Delete of pauses, set them.
	GroupPausedAt    time.Time
	GroupPausedUntil time.Time
	CreatedAt        time.Time // first put
	UpdatedAt        time.Time // of the definition
	DeletedAt        time.Time // a tombstone: keeps name, number and mark
	// FailingSince is when the first FollowUp with Failing was recorded since
	// the schedule was well; zero: it is well. Only List returns it.
	FailingSince time.Time
	// Failures counts the jobs that failed in a row: follow-ups with JobFailed
	// since the schedule was well, or since the last ResumeSchedules.
	Failures int64
}

// PausedFor reports whether the schedule is paused for a slot.
func (s *Schedule) PausedFor(slot time.Time) bool {
	return !s.PausedAt.IsZero() && (s.PausedUntil.IsZero() || slot.Before(s.PausedUntil))
}

// GroupPausedFor reports whether the schedule's group is paused for a slot.
func (s *Schedule) GroupPausedFor(slot time.Time) bool {
	return !s.GroupPausedAt.IsZero() && (s.GroupPausedUntil.IsZero() || slot.Before(s.GroupPausedUntil))
}

// LastPausedAt returns the later of PausedAt and GroupPausedAt, with which a firing is
// compared (Firing.PausedAt).
func (s *Schedule) LastPausedAt() time.Time {
	if s.GroupPausedAt.After(s.PausedAt) {
		return s.GroupPausedAt
	}
	return s.PausedAt
}

// PutSchedule is one schedule to be created or changed.
type PutSchedule struct {
	Name       string
	Definition []byte
	// Calendars are the calendars that the definition names, each once. Equal
	// definitions name the same calendars.
	Calendars []string
	// Group is the group that the definition names, or empty. Equal definitions name
	// the same group.
	Group string
	// After are the names of the schedules that this schedule follows, each once, also of
	// schedules that do not exist yet. Equal definitions name the same schedules. It also follows the
	// schedules of hosts that are made from these schedules (EveryOwner).
	After []string
	// IfRevision, if not 0, must equal the row's revision (ErrConflict). OnlyNew: no living schedule may have the name.
	IfRevision int64
	// Paused is whether the definition declares a pause. It takes effect when
	// the schedule is created or comes back from its tombstone, and when it
	// differs from the declaration of the last put; otherwise a pause or resume
	// by hand stays. A schedule that is paused already keeps its PausedAt. With
	// an unchanged definition Paused is ignored.
	Paused bool
}

// PutSchedulesRequest creates or changes schedules of one owner.
//
// A new schedule gets anchor, mark and next_at = now; a deleted schedule comes
// back with its number, under the owner of the request, and goes on after its
// mark, with a new anchor. An unchanged schedule (same owner and definition)
// keeps its row as it is. A changed or returned schedule gets a new revision,
// mark = max(mark, now) and next_at = now, so that a node plans it.
//
// From a put on, all ends of jobs of the schedules in After count, also of jobs that are
// live already; CheckAfter lists when After is refused.
//
// It refuses, and writes nothing: ErrConflict for a wrong IfRevision (any value,
// if the schedule does not exist or is deleted), and for the name of a live
// schedule of another owner; ErrNotFound for a calendar that does not exist;
// ErrStale for a SyncRevision that is less than the last SyncRevision of its
// owner; ErrUnsettled if a schedule that would change, or be deleted, is
// unsettled: next_at is not after now, and mark is before next_at, so that a
// slot may be due that is not accounted for; or if an end of a job of the schedule, or of
// one of its predecessors, is not passed on to the dependents yet (see Deferring); the error
// of CheckCycle if schedules would follow each other in a circle.
type PutSchedulesRequest struct {
	Now       time.Time
	Tx        Tx // the caller's transaction; nil: one of the driver's own
	Owner     string
	Schedules []PutSchedule
	// Sync makes the owner's set equal to Schedules: all other schedules of this
	// owner are deleted. Needs an owner.
	Sync bool
	// SyncRevision, with Sync or if it is not 0, must not be less than the last
	// SyncRevision of this owner, and is then remembered as the last.
	SyncRevision int64
	// Host, with Sync, declares that Schedules are this host's copy of the owner's set. The
	// copy is stored, and it is put into force only if
	//
	//   - the owner was never synced,
	//   - or the copy equals the version in force already,
	//   - or its SyncRevision is greater than the owner's last SyncRevision,
	//   - or SyncRevision is the owner's last, and the copy, or its SyncRevision, differs
	//     from what the host declared last,
	//   - or SyncRevision is the owner's last, no other host declares the version in force,
	//     and the host declares a copy for the first time, or that version came from a host.
	//
	// Otherwise the schedules stay as they are, and the result has Kept. ErrStale is not
	// returned. Digests are compared, so that order and revisions of the schedules do not matter.
	Host string
	// Path, with Host, is where the copy is on the host.
	Path string
	// Gone, with Host and without Schedules, declares that the host has no copy any more. The set
	// ends, whatever SyncRevision is, if it was the last host with a copy, unless a version is
	// in force that a caller without a host has brought and that differs from that copy.
	// Otherwise the result has Kept.
	Gone bool
	// Limits are limits of the owner, which are put as the schedules are. They count as part of the set
	// in Digest. With Sync the owner's other limits are deleted; if Limits is nil, the owner's limits stay as they are,
	// unless the set ends because of Gone. Not with Tx. PutRequest has when limits are refused.
	Limits []Limit
	By     Actor // recorded in the audit
	// Fields, if not nil, returns the names of the fields that differ between two definitions;
	// the audit shows them. It is a pure function.
	Fields func(before, after []byte) []string
}

// Ordered reports whether SyncRevision is compared and remembered.
func (r PutSchedulesRequest) Ordered() bool { return r.Sync || r.SyncRevision != 0 }

// HasLimits reports whether the request may change limits.
func (r PutSchedulesRequest) HasLimits() bool { return r.Limits != nil || r.Gone }

// LimitOwner returns the owner whose set of limits the request has; empty: its limits are not a whole set.
func (r PutSchedulesRequest) LimitOwner() string {
	if r.Sync {
		return r.Owner
	}
	return ""
}

// PutLimits returns the limits of the request, as of its owner.
func (r PutSchedulesRequest) PutLimits() []PutLimit {
	puts := make([]PutLimit, len(r.Limits))
	for i, limit := range r.Limits {
		limit.Owner = r.Owner
		puts[i] = PutLimit{Limit: limit}
	}
	return puts
}

// PutSchedulesResult has the result for each schedule.
type PutSchedulesResult struct {
	Revisions []int64 // in the order of the request
	Changed   int     // created or changed
	Deleted   int
	// Edited has the names of the schedules that were created, changed or
	// deleted, in any order.
	Edited []string
	// LimitsChanged is how many limits were created or changed, LimitsDeleted how many were deleted.
	LimitsChanged, LimitsDeleted int
	// Kept, if not nil, is the owner without its copies: the host's copy is not in force, and
	// nothing was changed but that it was stored, or deleted. The other fields are zero then.
	Kept *Owner
}

// ScheduleAction is what ChangeSchedules does.
type ScheduleAction int

// The actions.
const (
	// PauseSchedules sets PausedAt to now, unless the schedule is paused
	// already, and PausedUntil to Until.
	PauseSchedules ScheduleAction = iota
	// ResumeSchedules clears both, and Failures.
	ResumeSchedules
	// DeleteSchedules leaves a tombstone.
	DeleteSchedules
	// ResetSchedules sets mark = now and next_at = now: for a mark that is later
	// than the clock because the clock was wrong. A schedule with such a mark is
	// never unsettled; an unsettled schedule has to be fired first, so that a
	// reset drops no due slot. Slots that made a job before do not make another
	// job; see Schedules.Fire.
	ResetSchedules
)

// ChangeSchedulesRequest names schedules. Every action refuses with ErrUnsettled
// as PutSchedules does, so that the slots before the change are accounted for by
// the state before the change; pause and resume leave next_at as it is. A pause
// or resume that changes nothing never refuses.
type ChangeSchedulesRequest struct {
	Now    time.Time
	Tx     Tx // the caller's transaction; nil: one of the driver's own
	Action ScheduleAction
	Names  []string
	// Until is, for PauseSchedules, when the pause ends by itself; zero: never.
	Until time.Time
	// IfRevision is the revision that each of the schedules must have (ErrConflict). 0: any.
	IfRevision int64
	By         Actor // recorded in the audit
}

// ScheduleNames returns the names of rows.
func ScheduleNames(rows []*Schedule) []string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	return names
}

// DueSchedulesRequest asks for the schedules that Fire has to account for.
type DueSchedulesRequest struct {
	Now time.Time
	// Tx, with Names only, is the caller's transaction that is about to edit the
	// schedules; see FireRequest.Tx.
	Tx    Tx
	Limit int
	Names []string // only these; empty: all
	// Ahead is how much later than now the schedules may be due, so that a caller
	// can decide on their slots in advance. Not with Names.
	Ahead time.Duration
	// After continues a listing: only schedules after the cursor in its order
	// (next_at ascending, then number ascending). Not with Names.
	After DueCursor
	// Polled, if not empty, is the note of a shared poll; see Connection.SharedPolls.
	Polled string
}

// DueCursor is the position of a schedule in the order in which schedules are
// due. The zero value is before all schedules.
type DueCursor struct {
	NextAt time.Time
	ID     int64
}

// DueSchedulesResult has the due schedules.
type DueSchedulesResult struct {
	Now       time.Time // the store's clock
	Schedules []Schedule
	// Next is the earliest next_at after now + Ahead, of any schedule; zero: none.
	// Not given with Names.
	Next time.Time
}

// SlotOutcome is the outcome of a slot.
type SlotOutcome int16

// The outcomes. Drivers store these numbers.
const (
	SlotFired   SlotOutcome = 0 // it made a job
	SlotMissed  SlotOutcome = 1 // no node accounted for it in time
	SlotSkipped SlotOutcome = 2 // by a rule of the schedule; the reason names it
	// SlotNotStarted is the end of a predecessor's job by which the schedule does not
	// start, although its predecessor ended.
	SlotNotStarted SlotOutcome = 3
)

var slotOutcomeNames = [...]string{"fired", "missed", "skipped", "not_started"}

// String returns the outcome's word.
func (o SlotOutcome) String() string {
	if o < 0 || int(o) >= len(slotOutcomeNames) {
		return fmt.Sprintf("outcome(%d)", int16(o))
	}
	return slotOutcomeNames[o]
}

// SlotRecord accounts for one slot, or for Count slots from Slot to Last with
// the same outcome.
type SlotRecord struct {
	Slot    time.Time
	Last    time.Time // equals Slot for a single one
	Count   int64
	Outcome SlotOutcome
	Reason  string // in words
	// Extend asks to extend the schedule's newest record (the first that
	// List returns) instead, if that record has the same outcome and reason
	// and ends before Slot: Last is moved, Count is added, and the time of
	// recording is now.
	Extend bool
}

// Overlap is the policy for a slot that is due while a job of its schedule is
// running or, under OverlapSkip, is due and has not started.
type Overlap int16

// The policies. Drivers use them only through Firing.Settle, and to avoid
// reading the live jobs under OverlapAllow.
const (
	OverlapSkip    Overlap = 0 // the slot does not fire
	OverlapAllow   Overlap = 1 // it fires concurrently
	OverlapQueue   Overlap = 2 // its job waits; one at a time
	OverlapReplace Overlap = 3 // its job waits, and the running one is asked to cancel
)

// Firing accounts for slots of one schedule. It was decided from the row that
// Revision, Mark, NextAt and PausedAt, which is LastPausedAt, describe.
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
	// Jobs are the jobs of slots that fire, each with a different Slot, unless
	// Overlap forbids it or the slot has made a job before (see Schedules.Fire).
	Jobs    []NewJob
	Overlap Overlap
	// Follows marks a firing of a schedule with predecessors. It accounts for the ends
	// that List returned (OfEnds) with slots up to NewMark. Instead of NewNextAt, Fire writes
	// the slot of the first end that is not accounted for, or zero. Each job has one edge
	// in NewJob.After, to the job that ended, and is stored with this edge, which has
	// matched; it is left out, with its slot, if the schedule has made a job for an end of
	// the same job before.
	Follows bool
	// NotStarted, with Follows, are the records with SlotNotStarted as ends that the
	// dependents of this schedule have to account for.
	NotStarted []Ended
	// After, if not nil, also happens unless the firing is lost.
	After *FollowUp
	// Events are the causes with HookMissed or HookNotStarted that the firing records: handlers
	// make jobs from them, as from After.
	Events []HookEvent
}

// LiveJob is a job of a schedule that has not finished.
type LiveJob struct {
	JobSpec // of it Queue, Kind, Group and Key
	ID      int64
	Slot    time.Time
	Running bool
	Waiting bool
	Attempt int16
	Snoozed bool // an attempt ended with Snooze, so that the job has begun although Attempt may be 0
	Origin  Origin
	// Due means that the job's slot is not after now, whatever its RunAt is, because a jitter or a delay only moves the
	// start of the slot's job. Of a job without a slot, its RunAt is not after now.
	Due      bool
	StartsAt time.Time // RunAt, if it is after now; else zero
	Limited  bool      // waits for a permit of a limit
}

// Settled is a firing after its overlaps were decided.
type Settled struct {
	Jobs      []NewJob     // to insert, each recorded as fired; some are Waiting
	Slots     []SlotRecord // to record in addition
	Supersede []int64      // live jobs to end as cancelled with SupersededReason
	Replace   []int64      // waiting jobs to end as cancelled with ReplacedReason
	Cancel    []int64      // running jobs to be asked to cancel, for ReplacedReason
}

// SupersededReason is stored with a job that the schedule's next slot replaced
// while the job waited for a retry.
const SupersededReason = "superseded: the schedule's next slot fired while this job awaited a retry"

// ReplacedReason is stored with a job that the schedule's next slot replaced
// while the job was running, or waiting to start.
const ReplacedReason = "replaced: the schedule's next slot fired before this job had ended"

// FireRequest accounts for slots of any number of schedules, each at most once.
type FireRequest struct {
	Now time.Time
	// Tx is the caller's transaction that is about to edit the schedules. Where a
	// transaction that has written excludes all other writers, Fire happens in it,
	// because another transaction would wait for it for ever. Other stores ignore
	// it: what Fire locks would hold up other transactions until it ends.
	Tx      Tx
	Firings []Firing
	// Ahead, at most MostAhead, is how long before next_at a firing may be done. The jobs of an early firing have a
	// RunAt that is not before next_at. Not with Tx.
	Ahead time.Duration
	// Replan means that schedules may also be due later: their NextAt was computed with other data of a time zone
	// than the data of the decisions. Not with Ahead.
	Replan bool
	// Until is how long decisions that were made in advance are valid: if now is
	// after it, all firings are lost. Zero: for ever.
	Until time.Time
}

// FireResult is the result of Fire.
type FireResult struct {
	Fired []FiredSlot
	Slots []SkippedSlot // recorded without a job
	// Superseded jobs ended as cancelled, including the jobs of Settled.Replace.
	Superseded []int64
	// Asked are running jobs that were asked to cancel.
	Asked []int64
	// Lost are the schedules whose firing was left out.
	Lost []int64
	// Busy are schedules whose firing was left out because it was early and the schedule has a live job; they are not
	// in Lost. The firing may be sent again when it is due.
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

// SlotInfo is a record as it is shown to users.
type SlotInfo struct {
	ID           int64 // the record's number
	Schedule     int64
	ScheduleName string
	Host         string // HostOf its schedule
	SlotRecord          // Extend is not used
	Job          int64  // for SlotFired
	JobKept      bool   // the job is stored; a job that has finished is deleted when it has been kept for long enough
	JobState     State  // of a job that is kept
	RecordedAt   time.Time
	// After is the job whose end the (first) slot is, and AfterSchedule the name of its
	// schedule; 0 and empty for slots of a rule, and for ends that are not kept any more.
	After         int64
	AfterSchedule string
}

// Cursor returns the position of the record in listings.
func (s SlotInfo) Cursor() Cursor { return Cursor{At: s.Slot, ID: s.ID} }
