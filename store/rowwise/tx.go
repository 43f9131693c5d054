package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Tx is a transaction of a driver: the reads and writes of rows that the
// sequences of this package consist of. Lists that are passed to it are not
// empty. One goroutine uses a Tx at a time.
type Tx interface {
	Claims
	Groups
	Jobs
	Steps
	Edges
	Nodes
	Hosts
	FollowUps
	Slots
	Schedules
	Calendars
	PausesTx
	HandlersTx
	LimitsTx
	PermitsTx
	HandledTx
	Feed
	AuditTx
}

// Feed writes events.
type Feed interface {
	// InsertEvents stores rows of the feed, now, unless events are not kept. EndJobs
	// stores the ends of jobs itself.
	InsertEvents(ctx context.Context, rows store.EventRows, now time.Time) error
}

// Claims reads and writes the jobs of claims.
type Claims interface {
	// LockClaims returns, in the places of the claims, the live jobs that have
	// the tokens of the claims.
	LockClaims(ctx context.Context, claims []store.ClaimRef) ([]Held, error)

	// FindAnswered returns which of these jobs wait for a step that is not open any more: the name of the step by job.
	FindAnswered(ctx context.Context, waits map[int64]string) (ids []int64, err error)

	// EndStates returns, in the places of the claims, the states of the finished
	// jobs that have the tokens of the claims; StateReady where there is none.
	EndStates(ctx context.Context, claims []store.ClaimRef) ([]store.State, error)

	// InsertAttempts stores records of attempts of live jobs, with attempt, token,
	// node and start of the job. If the token has a record already, that record
	// stays, unless its outcome is AttemptLost: then it is replaced. Each of the
	// jobs keeps its newest MostAttempts records.
	InsertAttempts(ctx context.Context, records []store.AttemptRecord, now time.Time) error

	// StoredOutput returns what SaveOutput has stored of the output of the last claims
	// of live jobs, from block first on, by job, in the order of the blocks.
	StoredOutput(ctx context.Context, ids []int64, first int64) (map[int64][]store.StoredBlock, error)

	// DeleteOutput deletes what SaveOutput has stored of jobs.
	DeleteOutput(ctx context.Context, ids []int64) error

	// EndJobs moves live jobs to history, finished now. Their keys are free
	// again, and the cancel requests of jobs with Asked are deleted. Each end is an
	// event of the feed.
	EndJobs(ctx context.Context, ends []End, now time.Time) error

	// RequeueJobs makes running or ready jobs ready, due after their delay. The
	// token stays as it is.
	RequeueJobs(ctx context.Context, jobs []Requeue, now time.Time) error
}

// Groups reads and writes serial groups.
type Groups interface {
	// LockGroups returns the states of serial groups; groups in which no job
	// waits may be missing. It locks the first waiting job of each group, and
	// then reads, without locks, whether the group is busy: of two transactions
	// that end the last two jobs of a group, the second waits for the first, and
	// finds the group free.
	LockGroups(ctx context.Context, groups []store.SerialGroup) (map[store.SerialGroup]store.GroupState, error)

	// ReleaseJobs makes waiting jobs ready; run_at stays as it is.
	ReleaseJobs(ctx context.Context, ids []int64) error
}

// Jobs reads and writes jobs by number.
type Jobs interface {
	// LockJobs returns the live and finished jobs with these numbers, in any
	// order.
	LockJobs(ctx context.Context, ids []int64) ([]Job, error)

	// MatchJobs returns which of these jobs, which are locked, match a filter.
	MatchJobs(ctx context.Context, ids []int64, f store.JobFilter, now time.Time) ([]int64, error)

	// LockScheduleJobs returns the live jobs of a schedule, ordered by number.
	LockScheduleJobs(ctx context.Context, schedule string) ([]Job, error)

	// RequestCancels stores cancel requests for running jobs. A job that has a
	// request keeps it.
	RequestCancels(ctx context.Context, ids []int64, reason string, now time.Time) error

	// AlterJobs gives live jobs another queue or priority, or neither, and a run_at as
	// store.AlteredRunAt returns it.
	AlterJobs(ctx context.Context, jobs []Altered) error

	// TakeKeys takes their keys away from live jobs, which are locked.
	TakeKeys(ctx context.Context, ids []int64) error

	// DeleteJobs deletes live or finished jobs with their attempts and the holds
	// of their keys.
	DeleteJobs(ctx context.Context, ids []int64) error

	// LockKeyHolders returns the jobs that have the keys of finished jobs: live
	// jobs, and other jobs that hold a key that no live job has.
	LockKeyHolders(ctx context.Context, finished []int64, now time.Time) (map[store.JobKey]int64, error)

	// ReviveJobs makes finished jobs ready, under their numbers.
	ReviveJobs(ctx context.Context, jobs []Revived) error

	// LockKeys returns the jobs that have some keys: the live job, or the job that
	// holds the key after its end. Keys that are free are missing.
	LockKeys(ctx context.Context, keys []store.JobKey, now time.Time) (map[store.JobKey]store.KeyHolder, error)

	// SaveKeyHolds stores holds of jobs that were inserted; each replaces the hold of its key, which has expired. The call begins again if
	// another transaction has stored a hold that has not expired since LockKeys.
	SaveKeyHolds(ctx context.Context, holds []store.KeyHold, now time.Time) error

	// ReplaceJobs gives live jobs, which have not begun, another JobSpec with the
	// same kind and key.
	ReplaceJobs(ctx context.Context, jobs []Replaced) error

	// InsertJobs inserts jobs, whose keys are free, and answers for each in their
	// order.
	InsertJobs(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error)
}

// Nodes reads and writes nodes.
type Nodes interface {
	// FindLivingNodes returns the nodes that have not ended, ordered by number.
	// It locks nothing. NodeInfo.Running is not needed.
	FindLivingNodes(ctx context.Context) ([]store.NodeInfo, error)

	// LockLivingNodes returns the nodes among some that have not ended, ordered by number. Claims and
	// heartbeats of these nodes wait until the transaction ends, and no others. NodeInfo.Running is not needed.
	LockLivingNodes(ctx context.Context, ids []int64) ([]store.NodeInfo, error)

	// EndNodes records that nodes ended now, and whether they died.
	EndNodes(ctx context.Context, ids []int64, died bool, now time.Time) error

	// LockHeldJobs returns the running jobs of nodes, ordered by node, then by
	// number.
	LockHeldJobs(ctx context.Context, nodes []int64) ([]HeldJob, error)

	// CountLosses adds one to the losses of live jobs, up to math.MaxInt16.
	CountLosses(ctx context.Context, ids []int64) error
}

// FollowUps reads and writes which schedules are failing.
type FollowUps interface {
	// LockFailing returns the schedules among these that are failing, with their
	// numbers of failures.
	LockFailing(ctx context.Context, schedules []int64) (map[int64]int64, error)

	// BeginFailing records that schedules are failing since now. A schedule that
	// is failing already is replaced.
	BeginFailing(ctx context.Context, schedules []Failing, now time.Time) error

	// CountFailing records the numbers of failures of failing schedules.
	CountFailing(ctx context.Context, schedules []Failing) error

	// EndFailing records that schedules are well.
	EndFailing(ctx context.Context, schedules []int64) error
}

// Slots reads and writes what firings account for.
type Slots interface {
	// LockDueSchedules returns, by number, the living schedules among these whose
	// next_at is not after an instant.
	LockDueSchedules(ctx context.Context, ids []int64, until time.Time) (map[int64]Due, error)

	// LockLiveJobs returns, by schedule, the live jobs of schedules except
	// backfilled jobs, ordered by number.
	LockLiveJobs(ctx context.Context, schedules []int64, now time.Time) (map[int64][]store.LiveJob, error)

	// ActivePauses returns the active pauses by subject and name.
	ActivePauses(ctx context.Context, now time.Time) ([]store.Pause, error)

	// NewestSlots returns the newest record of each schedule that has records: the
	// first that a listing returns.
	NewestSlots(ctx context.Context, schedules []int64) ([]Slot, error)

	// FiredSlots returns the slots among these that have a record with
	// store.SlotFired.
	FiredSlots(ctx context.Context, slots []SlotKey) ([]SlotKey, error)

	// InsertSlots inserts records, recorded now. Their IDs are not needed.
	InsertSlots(ctx context.Context, slots []*Slot, now time.Time) error

	// ExtendSlots sets Last, adds Added to the count, and sets the time of
	// recording to now.
	ExtendSlots(ctx context.Context, slots []*Slot, now time.Time) error

	// FollowedEnds returns the keys among these for which the schedule has made a job.
	FollowedEnds(ctx context.Context, keys []FollowKey) ([]FollowKey, error)

	// InsertEdges inserts what jobs wait for; see Edges.
	InsertEdges(ctx context.Context, edges []JobEdge) error

	// MarkReleases lets the ends of live jobs leave notes.
	MarkReleases(ctx context.Context, ids []int64) error

	// CloseEnds accounts for the ends of schedules up to their marks, and sets next_at to
	// the slot of the first end after that, or to none.
	CloseEnds(ctx context.Context, schedules []int64) error

	// InsertNotes inserts notes; their numbers and DoneTo are not used.
	InsertNotes(ctx context.Context, notes []Note) error

	// AdvanceSchedules sets mark and next_at of schedules and adds Fired to the
	// number of slots that fired.
	AdvanceSchedules(ctx context.Context, schedules []Advance) error
}

// Schedules reads and writes schedules and their owners.
type Schedules interface {
	OwnersTx

	// LockRevision returns the greatest revision that was given to any calendar or limit, and lets one transaction at a time
	// put schedules, calendars and limits; RaiseRevision stores a greater one.
	LockRevision(ctx context.Context) (int64, error)
	RaiseRevision(ctx context.Context, to int64) error

	// LockSchedules returns schedules by name, tombstones too, without FailingSince.
	LockSchedules(ctx context.Context, names []string) (map[string]*store.Schedule, error)

	// LockMarks returns the marks of schedules by number. No firing of them
	// commits until the transaction ends.
	LockMarks(ctx context.Context, ids []int64) (map[int64]time.Time, error)

	// LockOwnedSchedules returns the living schedules of an owner.
	LockOwnedSchedules(ctx context.Context, owner string) ([]*store.Schedule, error)

	// SaveSchedules inserts the schedules whose ID is 0, and updates the other
	// schedules; FailingSince and Failures are not written.
	SaveSchedules(ctx context.Context, rows []*store.Schedule) error

	// DeleteCalendarUses deletes which calendars schedules name.
	DeleteCalendarUses(ctx context.Context, schedules []string) error

	// InsertCalendarUses inserts which calendars schedules name.
	InsertCalendarUses(ctx context.Context, uses []CalendarUse) error

	// HasNotes reports whether there is a note of a job of one of these schedules, or of
	// one of their predecessors.
	HasNotes(ctx context.Context, schedules []string) (bool, error)

	// FindPredecessors returns the predecessors of living schedules.
	FindPredecessors(ctx context.Context, schedules []string) (map[string][]string, error)

	// SaveChain replaces the predecessors of schedules.
	SaveChain(ctx context.Context, schedules []string, edges []ChainEdge) error

	// MarkPredecessors lets the ends of jobs of these schedules leave notes, also of jobs
	// that are live, if a living schedule follows them.
	MarkPredecessors(ctx context.Context, schedules []string) error

	// ResetFailures sets the numbers of failures of failing schedules to 0.
	ResetFailures(ctx context.Context, schedules []int64) error
}

// Calendars reads and writes calendars.
type Calendars interface {
	// LockCalendars returns calendars by name.
	LockCalendars(ctx context.Context, names []string) (map[string]*store.Calendar, error)

	// LockCalendarUsers returns the living schedules that name calendars; a
	// schedule that names several of them is returned for each.
	LockCalendarUsers(ctx context.Context, calendars []string) ([]CalendarUser, error)

	// ReviseSchedules gives schedules their next revision.
	ReviseSchedules(ctx context.Context, schedules []string) error

	// SaveCalendars inserts or updates calendars with a revision, changed now.
	SaveCalendars(ctx context.Context, calendars []store.PutCalendar, revision int64, now time.Time) error

	// DeleteCalendars deletes calendars.
	DeleteCalendars(ctx context.Context, names []string) error
}

// Held is a live job with the token of a claim.
type Held struct {
	Found         bool // otherwise there is no such job, and the other fields mean nothing
	Handled       bool // there are handlers
	store.HeldJob      // without Waits
}

// End moves a live job to history.
type End struct {
	ID     int64       `json:"id"`
	State  store.State `json:"state"`
	Reason string      `json:"reason"`
	Result string      `json:"result,omitempty"` // JSON; empty: the job has no result
	Asked  bool        `json:"-"`                // the job has a cancel request
	// Keep is as in store.Outcome. A job with Forget is deleted with its attempts.
	Keep time.Duration `json:"-"`
}

// Requeue makes a live job ready. Refunds and losses stop at math.MaxInt16.
type Requeue struct {
	ID           int64 `json:"id"`
	Delay        int64 `json:"delay"`  // microseconds from now until it is due
	Refund       int16 `json:"refund"` // subtracted from its attempt
	RefundCounts bool  `json:"counted"`
	LossCounts   bool  `json:"lost"`
	LossesEnd    bool  `json:"well"`
	Snoozed      bool  `json:"snoozed"` // one is added to its snoozes
}

// Job is a live or finished job that ChangeJobs decides about.
type Job struct {
	store.FinishedJob // its ID, and if it is finished, all fields
	State             store.State
	Group             store.SerialGroup
	RunAt, Slot       time.Time
}

// Replaced is a live job that becomes another job with its number and key.
type Replaced struct {
	ID int64
	store.JobSpec
}

// Revived makes a finished job ready. Its refunds are 0; its attempt, token and
// losses stay as they are.
type Revived struct {
	ID          int64 `json:"id"`
	RunAt       int64 `json:"run_at"` // microseconds since 1970
	MaxAttempts int16 `json:"max_attempts"`
}

// Altered gives a live job another queue, unless Queue is empty, or another
// priority, unless Priority is 0.
type Altered struct {
	ID       int64  `json:"id"`
	RunAt    int64  `json:"run_at"` // microseconds since 1970
	Queue    string `json:"queue"`
	Priority int16  `json:"priority"`
}

// HeldJob is a running job of a node that ends.
type HeldJob struct {
	store.LostJob
	Node int64
	Loss store.Loss // without Died and Waits
}

// Failing is a failing schedule with its number of failures.
type Failing struct {
	ID       int64 `json:"id"`
	Failures int64 `json:"failures"`
}

// Due is a schedule that is due, as a firing is compared with it.
type Due struct {
	Revision               int64
	Mark, NextAt, PausedAt time.Time
	Releases               bool // the ends of its jobs leave notes
}

// SlotKey names a slot of a schedule.
type SlotKey struct {
	Schedule int64 `json:"schedule"`
	Slot     int64 `json:"slot"` // microseconds since 1970
}

// Slot is a record of slots. SlotRecord.Extend means nothing.
type Slot struct {
	ID       int64 // 0: not stored yet
	Schedule int64
	store.SlotRecord
	Job   int64 // for store.SlotFired
	Added int64 // for ExtendSlots, what is added to the stored count
}

// Advance moves a schedule on.
type Advance struct {
	Schedule     int64
	Mark, NextAt time.Time
	Fired        int64
}

// CalendarUse is a calendar and a schedule that names it.
type CalendarUse struct {
	Calendar string `json:"calendar"`
	Schedule string `json:"schedule"`
}

// CalendarUser is a living schedule that names a calendar.
type CalendarUser struct {
	CalendarUse
	NextAt time.Time
}
