// Package store is the contract between Hourbell and a database.
//
// It is written for those who implement a driver. Users of Hourbell meet a
// driver only as a value they hand to hourbell.New; they never call it.
//
// # Rules for every method
//
//   - Any number of goroutines and of processes may call at once.
//   - One call is one transaction: after an error nothing of it is there,
//     except where the connection broke during the commit. Callers may then
//     send the same call again; each method says what a repetition does.
//   - The database's clock decides. A request's Now is for tests only; zero
//     means the clock of the database. All other times are instants, kept to
//     the microsecond and returned in UTC. The zero time means "none".
//   - A driver does not keep slices of a request after it returns, and the
//     caller may keep those of a result.
//   - Requests were validated by the caller (see Validate in package
//     hourbell); a driver may rely on sizes and ranges, and must still never
//     build SQL out of text.
//   - Errors say what was being done and wrap the cause. The sentinels of
//     this package are the only ones callers compare with.
//
// The suite in store/storetest holds every line of this contract; a driver
// that passes it is a driver, and one that does not is none. The words used here
// are defined in docs/glossary.md.
package store

import (
	"context"
	"errors"
	"time"
)

// Backend is a database seen by Hourbell. See the package comment for what
// holds for every method.
type Backend interface {
	Jobs
	Schedules
	Calendars
	Nodes
	Maintenance
	History
}

// Jobs is the role that keeps jobs.
//
// Jobs of one schedule can be made to run one after the other (NewJob.Waiting).
// Such a job is waiting while another job of its schedule is ready or running,
// backfilled jobs counting for backfilled ones only and all others for all
// others. In the transaction that ends or deletes the last of those, or that
// inserts it where there is none, the job that waits with the smallest slot,
// then number, becomes ready; it keeps its run_at, and wakes nodes as by Insert.
type Jobs interface {
	// Insert stores jobs, all or none, and returns their numbers in the order
	// of the request. Any number is taken; a driver sends some thousands a
	// statement. With a Tx all of it happens in the caller's transaction, and
	// the wake-up leaves with its commit; else with the commit or, in a burst, a
	// few milliseconds after it. Where the database rejects a value the answer
	// is ErrRejected. A repetition inserts again, but for a job with a key
	// (Unique): while one of its kind with that key is waiting, ready or running,
	// also in transactions that are not committed yet, which are waited for, it is
	// not stored. A job loses its key when it ends. Without a Tx, a job of origin
	// OriginTrigger gets no run_at before its schedule's FiredTo, for it would
	// overlap a slot that has been decided on; and no slot of its schedule fires
	// early between that look and the commit.
	Insert(ctx context.Context, req InsertRequest) (InsertResult, error)

	// Claim takes up to Limit due jobs of one queue for a node: state ready,
	// run_at not after now, kind among Kinds, or kind and args (byte for byte)
	// those of one of Exact; lowest priority number first, then run_at, then
	// number. Each gets attempt + 1 and a new token, greater than every token
	// given before for that job or for its schedule. No job is handed to two
	// claims. A node that is not registered, or was declared
	// dead, gets ErrNodeGone and no job (also where the two happen at once). A
	// repetition claims others; what a lost reply held is found by Claims. Suspects
	// are claimed apart from all other jobs; see ClaimRequest.Suspects.
	Claim(ctx context.Context, req ClaimRequest) (ClaimResult, error)

	// BeginJobs lets claims begin that a node has made ahead (ClaimRequest.Ahead). From
	// then on they count as begun when the node is lost. The node waits for the answer
	// before it begins one of them. A node that is not registered, or was declared
	// dead, gets ErrNodeGone, and none of them counts as begun (also where the two
	// happen at once). After another error this is unknown. What the node does not
	// hold is passed over, and a repetition is harmless.
	BeginJobs(ctx context.Context, req BeginRequest) error

	// Finish records outcomes of claims. An outcome counts only where the job
	// still bears the token of the claim and nobody has taken it since;
	// the others come back in Refused, and touch nothing. An outcome that is
	// already recorded for the same job and token (the job finished under that
	// token in the state the outcome leads to) is not refused and touches
	// nothing, so that a repetition is harmless. A retry or release of a job
	// with a cancel request is a cancellation, with the request's reason. A
	// retry of a job that is not backfilled, while a job of its schedule waits
	// that is not either, ends it as cancelled with SupersededReason. A
	// retry or release of a job that does not run any more (repeated, or late
	// after a rescue) is not refused and leaves the row as it is: the job is
	// ready already. A retry sets the job's losses to 0. A claim leaves at most one attempt's record, the first.
	// Outcome.After happens once, in the same transaction; see FollowUp.
	Finish(ctx context.Context, req FinishRequest) (FinishResult, error)

	// ChangeJobs cancels, retries or deletes jobs by number or by schedule,
	// and says for each what it did. With neither it changes nothing.
	ChangeJobs(ctx context.Context, req ChangeJobsRequest) (ChangeJobsResult, error)

	// ListJobs returns jobs, alive and finished, greatest number first, in
	// pages.
	ListJobs(ctx context.Context, req ListJobsRequest) ([]JobInfo, error)
}

// Schedules is the role that keeps schedules and their slots.
type Schedules interface {
	// PutSchedules creates or changes schedules, all or none. See
	// PutSchedulesRequest for what it refuses. Slots that have fired ahead stand
	// (FiredTo of the result), as they do for ChangeSchedules and PutCalendars.
	PutSchedules(ctx context.Context, req PutSchedulesRequest) (PutSchedulesResult, error)

	// ChangeSchedules pauses, resumes, deletes or resets schedules by name,
	// all or none: an unknown or deleted name gives ErrNotFound and changes
	// nothing.
	ChangeSchedules(ctx context.Context, req ChangeSchedulesRequest) (ChangeSchedulesResult, error)

	// DueSchedules reads what Fire is to work on: schedules with next_at not
	// after now, or not after now + Ahead, earliest first.
	DueSchedules(ctx context.Context, req DueSchedulesRequest) (DueSchedulesResult, error)

	// Fire accounts for slots: for each firing it compares revision, mark,
	// paused_at and next_at (which must be due by the store's clock, or early as
	// FireRequest.Ahead allows) with the row, settles
	// overlaps by Firing.Settle over the schedule's live jobs, but for backfilled ones (locked for
	// the time of the transaction), does what that says, records the slots,
	// inserts the jobs and moves mark and next_at. A firing whose comparison fails is left out and
	// returned in Lost: another node was first, or an editor. A repetition is
	// therefore harmless.
	//
	// A slot that has made a job never makes a second one, as long as its record
	// is kept: where a reset has moved the mark back, Fire takes such a slot's
	// job out of Firing.Jobs before it settles overlaps, and passes over the slot
	// in silence, with no job, no record and no place in the result or in Fired.
	//
	// Firing.After of those that are not lost happens in the same transaction;
	// its jobs have no place in the result or in Fired.
	Fire(ctx context.Context, req FireRequest) (FireResult, error)

	// ListSchedules returns schedules by name in byte order, in pages.
	ListSchedules(ctx context.Context, req ListSchedulesRequest) ([]Schedule, error)

	// ListSlots returns recorded slots, newest first, in pages.
	ListSlots(ctx context.Context, req ListSlotsRequest) ([]SlotInfo, error)
}

// Calendars is the role that keeps calendars of exclusions, which schedules name
// (PutSchedule.Calendars). Whoever reads a schedule and then the calendars that it
// names has those of the schedule's revision, or newer ones; then the schedule has
// a newer revision, too.
type Calendars interface {
	// PutCalendars creates or changes calendars, all or none. See
	// PutCalendarsRequest for what it refuses.
	PutCalendars(ctx context.Context, req PutCalendarsRequest) (PutCalendarsResult, error)

	// DeleteCalendars deletes calendars by name, all or none. See
	// DeleteCalendarsRequest for what it refuses.
	DeleteCalendars(ctx context.Context, req DeleteCalendarsRequest) error

	// ListCalendars returns calendars by name in byte order, in pages.
	ListCalendars(ctx context.Context, req ListCalendarsRequest) ([]Calendar, error)
}

// Nodes is the role that knows who is alive.
type Nodes interface {
	// Register enters a node, alive as of now, and returns its number, which
	// is never used again.
	Register(ctx context.Context, req RegisterRequest) (RegisterResult, error)

	// Heartbeat prolongs a node's lease to now + its length. A node that was
	// declared dead or has left gets ErrNodeGone: its claims are lost, and it
	// must register anew.
	Heartbeat(ctx context.Context, req HeartbeatRequest) (HeartbeatResult, error)

	// Claims returns what a node holds by the store's books, or only those
	// claims for which a cancel request waits. It only reads.
	Claims(ctx context.Context, req ClaimsRequest) ([]ClaimRef, error)

	// Rescue declares dead every other node whose lease has passed (its end is
	// not after now) and takes its jobs from it, by the rule of Loss.Fate: a job with
	// a cancel request is cancelled, with the request's reason; one that was claimed
	// ahead and that no BeginJobs has named, so that it cannot have begun, is ready with
	// run_at now and its attempt refunded; one with on_loss fail, or without
	// attempts left, fails with LostReason; one for which a job of its schedule
	// waits is superseded as by a retry (see Jobs.Finish); any other is ready again
	// after LossDelay, its attempt spent. Whatever may have begun counts one loss more.
	// Tokens stay as they are, so that a late outcome is still accepted
	// while nobody has taken the job. The caller has made sure that it may judge
	// (its own heartbeats succeeded for one lease). What After says of those that
	// fail as lost happens in the same transaction.
	//
	// The request may be executed long after it was sent, by a server that was
	// frozen or under a clock that jumped, when all leases seem to have passed.
	// So it does nothing, without an error, unless the node that asks is
	// registered and its last Heartbeat (or Register) is at most half its own
	// lease away from now, before or after: abs(now - seen_at) <= lease / 2.
	Rescue(ctx context.Context, req RescueRequest) (RescueResult, error)

	// Leave ends a node's registration. Whatever it still holds is treated as
	// in Rescue, except that attempts of jobs that may run again are refunded, these
	// rest for no time, no loss is counted, and none is superseded.
	// Leaving twice is harmless.
	Leave(ctx context.Context, req LeaveRequest) (RescueResult, error)

	// ListNodes returns living nodes and those that ended within the time
	// that Prune keeps them, greatest number first.
	ListNodes(ctx context.Context) ([]NodeInfo, error)

	// ListQueues counts the live jobs of each queue, by name.
	ListQueues(ctx context.Context) ([]QueueInfo, error)
}

// Maintenance deletes old rows and reads the clock of the store.
type Maintenance interface {
	// Prune deletes up to Limit rows of each sort that are older than asked
	// (not those of exactly that age). Attempts go with their jobs. Living
	// jobs and nodes, schedules, tombstones and owners' sync revisions stay.
	Prune(ctx context.Context, req PruneRequest) (PruneResult, error)

	// Now reads the store's clock; it also serves as the cheapest ping.
	Now(ctx context.Context) (time.Time, error)
}

// Listener is implemented by backends that can push wake-ups. Callers find it
// by assertion and poll where it is missing.
type Listener interface {
	// Listen calls wake for each change another connection made that a node
	// may care about, and blocks until ctx ends or the channel breaks. Each
	// time it is listening (again), and before any push is relied upon, it
	// calls wake once with WakeAll. wake returns at once. The error says why
	// it ended; ErrNoPush means that pushes do not get through here (a pooler
	// in between, for example), and the caller polls from then on.
	Listen(ctx context.Context, wake func(Wake)) error
}

// Distant is implemented by backends that know how far away their store is. Callers
// find it by assertion, and take a store without it for near.
type Distant interface {
	// RoundTrip is how long a message to the store and its answer take at least: the
	// shortest time that was seen; 0 where none was seen.
	RoundTrip() time.Duration
}

// FarAway is the round trip from which on a store counts as far away: longer than
// within one building, where it costs less than the work itself.
const FarAway = 700 * time.Microsecond

// RoundTrip is that of a backend which is far away; 0: it is near, or does not know.
func RoundTrip(b Backend) time.Duration {
	if distant, ok := b.(Distant); ok {
		if d := distant.RoundTrip(); d >= FarAway {
			return d
		}
	}
	return 0
}

// Wake says what changed. Wake-ups are hints: one may be lost, doubled or
// about nothing.
type Wake struct {
	Kind  WakeKind
	Queue string // for WakeJobs; empty means any queue
}

// WakeKind says which loop a wake-up is for.
type WakeKind int

// The kinds of wake-up.
const (
	WakeAll WakeKind = iota
	WakeJobs
	WakeSchedules
	WakeCancels
)

// Pooled is implemented by backends beside which the program uses a pool of
// connections of its own. Callers find it by assertion.
type Pooled interface {
	// PoolSize is how many connections that pool gives out at most; 0: it has no
	// bound, or there is no such pool.
	PoolSize() int
}

// Tx is a caller's transaction. Only the driver that made the value can use
// it; any other answers ErrForeignTx.
type Tx interface {
	// HourbellTx marks the type; it does nothing.
	HourbellTx()
}

// What callers compare with errors.Is.
var (
	// ErrNotFound: what was named is not there.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the row changed since it was read, or belongs to another
	// owner; nothing was written.
	ErrConflict = errors.New("changed by someone else")
	// ErrStale: a newer revision of this owner's set is in place.
	ErrStale = errors.New("a newer revision is in place")
	// ErrUnsettled: a schedule to be changed has due slots that nobody has
	// accounted for yet. Fire it, then try again.
	ErrUnsettled = errors.New("due slots are not accounted for yet")
	// ErrInUse: a schedule names the calendar that was to be deleted.
	ErrInUse = errors.New("in use by a schedule")
	// ErrNodeGone: the node is not registered (any more).
	ErrNodeGone = errors.New("node is not registered or was declared dead")
	// ErrForeignTx: the transaction was made by another driver.
	ErrForeignTx = errors.New("transaction belongs to another driver")
	// ErrNoPush: wake-ups cannot be pushed on this connection.
	ErrNoPush = errors.New("the store cannot push wake-ups here")
	// ErrRejected: the database does not take a value of this request, and
	// would not if it were sent again: text that its encoding lacks, a row that
	// a constraint or trigger of the owner's forbids. Nothing was written.
	ErrRejected = errors.New("the database rejects a value")
	// ErrUnknown: the answer to a commit did not come, so that the call may have
	// happened or not.
	ErrUnknown = errors.New("it is unknown whether this was done")
	// ErrSchema: the schema in the database is not the one this release needs.
	ErrSchema = errors.New("database schema does not fit this release")
)
