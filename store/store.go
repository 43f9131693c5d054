// Package store is the contract between Hourbell and a database.
//
// It is written for authors of drivers. Users of Hourbell pass a driver to
// hourbell.New and never call it.
//
// # Rules for every method
//
//   - Any number of goroutines and processes may call it concurrently.
//   - One call is one transaction: after an error nothing was written, except
//     that the outcome is unknown if the connection broke during the commit.
//     Callers may then repeat the call; each method documents the effect of a
//     repetition.
//   - All times are compared with the database's clock. A request's Now replaces
//     it in tests only; zero means the clock of the database. All other times
//     are instants, stored with a precision of one microsecond and returned in
//     UTC. The zero time means "none".
//   - A driver does not keep slices of a request after it returns. The caller
//     may keep slices of a result.
//   - Requests were validated by the caller (see Validate in package hourbell);
//     a driver may rely on sizes and ranges, but must never build SQL from text.
//   - Errors begin with the operation and wrap the cause. Callers compare errors
//     with the sentinels of this package only.
//
// The suite in store/storetest tests every statement of this contract; every
// driver must pass it. The words used here are defined in docs/glossary.md.
package store

import (
	"context"
	"time"
)

// Backend is a database as Hourbell sees it. The package comment has the rules
// for every method.
type Backend interface {
	Jobs
	Steps
	Listings
	Schedules
	Definitions
	Permits
	Nodes
	Maintenance
	History
	Feed
	Audit
}

// Jobs stores jobs.
//
// Jobs of one schedule can be made to run one after the other (NewJob.Waiting).
// Such a job is waiting while another job of its serial group is ready or
// running. A schedule has two serial groups: its backfilled jobs, and its other
// jobs. The transaction that ends or deletes the last ready or running job of a
// serial group, or that inserts a waiting job into a group without ready or
// running jobs, makes the waiting job with the smallest slot, then the smallest
// number, ready; the job keeps its run_at, and nodes are woken as by Insert.
type Jobs interface {
	// Insert stores jobs, all or none, and answers for each of them. A request
	// may have any number of jobs; a driver sends some thousands per statement.
	// With a Tx everything happens in the caller's transaction. The wake-up is sent
	// with the commit or, in a burst, a few milliseconds after it; after the commit
	// of a caller's transaction it may be later if the transaction took long, and it
	// is lost if the process ends before it is sent (see Connection.SharedPolls and Flusher).
	// InsertRequest.NotifyInTx makes it part of the commit. If the database rejects a
	// value, the error is ErrRejected. A repetition inserts the jobs again,
	// except jobs with a key.
	//
	// A job with a key (JobSpec.Unique) is not stored while a job of its kind
	// with that key is waiting, ready or running, or if a job before it in the
	// request has kind and key; the answer is then the number of that job. Insert
	// waits for uncommitted transactions that have inserted a job with one of the
	// keys. Concurrent requests with the same keys, in any order, do not wait for
	// each other in a circle, unless a caller's transaction inserts keys by
	// several requests. A job loses its key when it ends.
	//
	// NewJob.OnConflict may change the live job that has the key, unless it has
	// begun, and Inserted.Conflict is what happened. A claim and a change exclude
	// each other: whichever comes first is seen by the other. The jobs of a request
	// count one after the other, so that a job may change a job before it in the
	// request. With OnConflictError the whole request is refused with a
	// DuplicateError, also in a caller's transaction, which stays usable.
	//
	// With NewJob.UniqueFor the job holds its key, also after its end, until that
	// long after now, unless the job is deleted. Until then
	// another job of its kind with that key is not stored, and the answer is the
	// number of the job that holds the key, ConflictHeld if it has ended. That is
	// decided by a constraint among jobs with UniqueFor; a job without UniqueFor
	// is compared with the holds that were committed when its insert began.
	Insert(ctx context.Context, req InsertRequest) (InsertResult, error)

	// Claim takes up to Limit due jobs of one queue for a node: state ready,
	// run_at not after now, and either the kind is among Kinds, or kind and args
	// are equal (byte for byte) to an element of Exact; lowest priority number
	// first, then run_at, then number. Each job gets attempt + 1 and a new
	// token, greater than every token given before for that job or for its
	// schedule. No job is given to two claims. A node that is not registered, or
	// was declared dead, gets ErrNodeGone and no job (also if the claim and the
	// declaration are concurrent). A repetition claims other jobs; Claims
	// returns the claims of a lost reply. Suspects are claimed separately from
	// all other jobs; see ClaimRequest.Suspects. A claim may ask for the jobs that
	// have been due for longest, whatever their priority; see ClaimRequest.DueFor.
	Claim(ctx context.Context, req ClaimRequest) (ClaimResult, error)

	// BeginJobs permits jobs to begin that a node has claimed ahead
	// (ClaimRequest.Ahead). From then on they count as begun when the node is
	// lost. The node waits for the answer before it begins one of them. A node
	// that is not registered, or was declared dead, gets ErrNodeGone, and none
	// of the jobs counts as begun (also if the call and the declaration are
	// concurrent). After any other error it is unknown whether they count as
	// begun. Claims that the node does not hold are ignored, and a repetition is
	// harmless. A job that an active pause concerns does not begin, and is in the result.
	BeginJobs(ctx context.Context, req BeginRequest) (BeginResult, error)

	// Finish records outcomes of claims. An outcome counts only if the job still
	// has the token of the claim, so that no later claim has taken it; the other
	// outcomes are returned in Refused and change nothing. An outcome that is
	// already recorded for the same job and token (the job finished under that
	// token in the state the outcome leads to) is not refused and changes
	// nothing, so that a repetition is harmless. An outcome with Forget counts as
	// recorded if there is no job with its number any more: the store cannot
	// distinguish its repetition from a job that was deleted, or that another
	// claim ended with Forget. A retry, release or snooze of a job
	// with a cancel request is a cancellation, with the request's reason. A
	// retry or snooze of a job that is not backfilled ends it as cancelled with
	// SupersededReason if a job of its serial group waits. A retry, release or
	// snooze of a job that is not running any more (repeated, or late after a
	// rescue) is not refused and leaves the row as it is, because the job is ready
	// already. A retry or snooze sets the job's losses to 0, and a snooze adds one
	// to its snoozes. Outcome.After happens once, in the same transaction; see
	// FollowUp.
	//
	// An outcome that changes its job leaves a record of the attempt, by the rule
	// of Outcome.Record. A claim leaves at most one record, the first; but a late
	// outcome that ends its job replaces a record with AttemptLost. A job keeps
	// the newest MostAttempts records.
	//
	// With a Tx, the request has one outcome, Completed, which is recorded in the
	// caller's transaction with all that it causes, and the row of the job stays
	// locked until the transaction ends. If the outcome is refused, also when the
	// claim is lost at this moment, Finish rolls the transaction back, so that it
	// cannot be committed any more. With Commit, Finish commits the transaction.
	// After an error of a call with Commit, it is either unknown whether the
	// transaction was committed, which FindClaim finds out, or the caller can roll
	// it back.
	Finish(ctx context.Context, req FinishRequest) (FinishResult, error)

	// FindClaim reports what became of a claim whose outcome was to be recorded in
	// a caller's transaction. Where the database locks rows, it waits for no other
	// transaction. It changes nothing.
	FindClaim(ctx context.Context, ref ClaimRef) (ClaimState, error)

	// SaveProgress stores the progress of claims, for JobInfo.Progress. It counts
	// only for a job, running or finished, that still has the token of the claim;
	// other progress is ignored. It is deleted with its job.
	SaveProgress(ctx context.Context, req SaveProgressRequest) error

	// SaveOutput stores output of attempts that run, for ReadOutput, and returns the
	// claims for which it did so: those whose jobs are running with their tokens. It
	// may leave out jobs that other transactions have locked. Data replaces the
	// stored bytes from its place on; the blocks that ClaimOutput.Window leaves out,
	// and output of earlier claims of the job, are deleted. A repetition is harmless.
	//
	// The end of an attempt deletes its stored output, in the same transaction: the
	// outcome brings what is kept (Outcome.Output). If the attempt ends because its
	// node died or left, the stored output becomes the Output of its record.
	SaveOutput(ctx context.Context, req SaveOutputRequest) ([]ClaimRef, error)

	// ReadOutput returns the output of an attempt: as it was stored last while the
	// attempt runs, and then the output of its record. A job that does not exist is
	// ErrNotFound. An attempt that does not exist, or is not kept, has printed
	// nothing: From is the From of the request.
	ReadOutput(ctx context.Context, req ReadOutputRequest) (JobOutput, error)

	// ChangeJobs cancels, retries, deletes, moves or reprioritises jobs by number, or
	// cancels the jobs of a schedule, and returns what it did with each. With neither
	// it changes nothing.
	//
	// With a Tx, a store whose transactions run concurrently does not lock running
	// jobs, nor live jobs of schedules, which others lock together with many more:
	// it cancels them after the commit (Requested; see Deferring), and refuses
	// to do anything else with a live job of a schedule (ErrNotInTx).
	ChangeJobs(ctx context.Context, req ChangeJobsRequest) (ChangeJobsResult, error)

	// ListJobs returns jobs, live and finished, in the order of their numbers, in
	// pages.
	ListJobs(ctx context.Context, req ListJobsRequest) ([]JobInfo, error)

	// CountJobs returns how many jobs match, at one instant. Without
	// CountJobsRequest.Within it may read all jobs.
	CountJobs(ctx context.Context, req CountJobsRequest) (int64, error)
}

// Steps stores what jobs remember from one attempt to the next. List returns it.
type Steps interface {
	// SaveStep stores a step of a job by the rule of Step.Over, and returns what is stored then. A repetition is harmless. A worker
	// names its claim, and gets ErrNotHeld if the job does not run under that claim. Without a claim the step is a signal: the job
	// may be waiting, ready or running, and a job that has ended is ErrJobEnded. A job that lies ready while its step is open
	// (Outcome.Wait) is due at once when its signal comes. A job that does not exist is ErrNotFound. Two transactions that store
	// the first result under one name exclude each other: the second waits, and then finds the step of the first.
	SaveStep(ctx context.Context, req SaveStepRequest) (SaveStepResult, error)
}

// Schedules stores schedules and their slots.
type Schedules interface {
	// PutSchedules creates or changes schedules, all or none.
	// PutSchedulesRequest lists what it refuses.
	PutSchedules(ctx context.Context, req PutSchedulesRequest) (PutSchedulesResult, error)

	// ChangeSchedules pauses, resumes, deletes or resets schedules by name,
	// all or none: an unknown or deleted name gives ErrNotFound and changes
	// nothing.
	ChangeSchedules(ctx context.Context, req ChangeSchedulesRequest) error

	// DueSchedules reads the schedules that Fire has to account for: next_at not
	// after now, earliest first. It can also read ahead, so that a caller can
	// decide on slots before they are due.
	DueSchedules(ctx context.Context, req DueSchedulesRequest) (DueSchedulesResult, error)

	// Fire accounts for slots: for each firing it compares revision, mark,
	// paused_at and next_at (which must be due by the store's clock) with the
	// row, settles overlaps by Firing.Settle
	// over the schedule's live jobs except backfilled jobs (locked until the
	// transaction ends), carries out its decision, records the slots, inserts
	// the jobs and moves mark and next_at. A firing whose comparison fails is
	// left out and returned in Lost, because another node or an edit of the
	// schedule was first. A repetition is therefore harmless.
	//
	// A slot that has made a job never makes a second job, as long as its record
	// is kept: if a reset has moved the mark back, Fire removes such a slot's
	// job from Firing.Jobs before it settles overlaps, and the slot gets no job
	// and no record and is not in the result or in Fired.
	//
	// Firing.After of firings that are not lost happens in the same transaction;
	// its jobs are not in the result or in Fired.
	//
	// With Ahead, Fire also accounts for slots whose instant comes within Ahead: the job of such a slot is stored
	// before the slot, so that at the slot only the claim is left. A firing is early if next_at is after now. An early
	// firing is done only if its schedule has no live job, except backfilled jobs, so that there is no overlap to
	// settle; otherwise it is left out and returned in Busy. Under OverlapAllow live jobs do not matter.
	//
	// The job of a slot that fires early has a RunAt that is not before the slot, so that it starts as if the slot had
	// fired at its instant. From the early firing to the slot the schedule's mark is later than the clock, and the
	// slot stays accounted for:
	//
	//   - An edit (PutSchedules, ChangeSchedules, Put of calendars) is made at once and takes nothing back. The caller
	//     then waits until Schedule.FiredTo, so that no slot that was decided before the edit begins after the caller
	//     has answered.
	//   - ResetSchedules leaves a mark that is later than now by MostAhead or less.
	//   - A job that is made due by hand does not start before the slot, because it would overlap a slot that has been
	//     decided on. Insert gives a job of origin OriginTrigger a run_at that is not before Schedule.FiredTo, and so
	//     does RetryJobs with a finished job. RetryJobs does not set the run_at of a ready job before the job's own
	//     slot, if that slot is at most MostAhead away.
	//   - An early firing and a job that becomes live concurrently see each other: either the slot does not fire
	//     early, or the job starts at the slot or later. A job of a caller's transaction that is open need not be seen.
	Fire(ctx context.Context, req FireRequest) (FireResult, error)
}

// Nodes stores which nodes are alive.
type Nodes interface {
	// Register adds a node, alive as of now, and returns its number, which is
	// never reused. With Continue it adds none, and returns that number;
	// ErrNodeGone if that node was declared dead or has left.
	Register(ctx context.Context, req RegisterRequest) (RegisterResult, error)

	// Heartbeat extends a node's lease to now + its length. A node that was
	// declared dead or has left gets ErrNodeGone: its claims are lost, and it
	// must register again.
	Heartbeat(ctx context.Context, req HeartbeatRequest) (HeartbeatResult, error)

	// Claims returns the claims that a node holds according to the store, or
	// only the claims with a cancel request, or the claims of jobs that active pauses
	// concern. It only reads.
	Claims(ctx context.Context, req ClaimsRequest) ([]ClaimRef, error)

	// Rescue declares dead every other node whose lease has expired (its end is
	// not after now) and takes its jobs from it, by the rule of Loss.Effect: a job
	// with a cancel request is cancelled, with the request's reason; a job that
	// was claimed ahead and that no BeginJobs has named, so that it cannot have
	// begun, is ready with run_at now and its attempt refunded; a job with
	// on_loss fail, or without attempts left, fails with LostReason; a job for
	// which a job of its schedule waits is superseded as by a retry (see
	// Jobs.Finish); any other job is ready again after LossDelay, its attempt
	// spent. Each job that may have begun counts one more loss. Tokens stay as
	// they are, so that a late outcome is still accepted until another claim
	// takes the job. Each job that may have begun gets a record of the lost
	// attempt, by the rule of Loss.Record, unless the claim has left a record.
	// The caller has made sure that it may declare nodes dead (its own
	// heartbeats succeeded for one lease). The follow-ups that After returns for
	// jobs that fail as lost happen in the same transaction.
	//
	// Where the database locks rows, Rescue does not wait for a job that an open
	// transaction has locked, such as the transaction of a worker that has recorded
	// its completion. It leaves the job with its node, which is dead, and a later
	// Rescue, of any node, takes it when the transaction has ended, by the same
	// rule. HeartbeatResult.NextExpiry is then when to call Rescue again.
	//
	// The request may be executed long after it was sent, by a server that was
	// frozen or under a clock that jumped, when all leases seem to have passed.
	// Rescue therefore does nothing, without an error, unless the calling node
	// is registered and its last Heartbeat (or Register) is at most half its own
	// lease away from now, before or after: abs(now - seen_at) <= lease / 2. Nor
	// does it do anything if that heartbeat is another than the request's Beat:
	// the node does not know its answer, which may show that the clock jumped.
	Rescue(ctx context.Context, req RescueRequest) (RescueResult, error)

	// Leave ends a node's registration. The jobs that it still holds are treated
	// as in Rescue, except that attempts of jobs that may run again are
	// refunded, these jobs are ready without a delay, no loss is counted, and no
	// job is superseded. Jobs that open transactions have locked are left to a
	// Rescue. Leaving twice is harmless.
	Leave(ctx context.Context, req LeaveRequest) (RescueResult, error)
}

// Maintenance deletes old rows, stores statistics and reads the clock of the store.
type Maintenance interface {
	// Prune deletes up to Limit rows of each sort that are older than requested
	// (rows of exactly that age stay). Jobs that ended with an Outcome.Keep are a
	// sort of their own: they are deleted when they are older than that. Attempts are deleted with their jobs.
	// Live jobs and nodes, schedules, tombstones and owners' sync revisions
	// stay, and finished jobs that hold their keys (NewJob.UniqueFor). Holds of
	// keys that have expired are deleted, too.
	Prune(ctx context.Context, req PruneRequest) (PruneResult, error)

	// AddStats stores rows of statistics: a row replaces the row of the same span, instant and writer, so that a repetition is harmless.
	// Rows of other writers are neither changed nor locked. If the oldest living node asks, rows are deleted that are older than their
	// span is kept (StatsSpans). List returns rows. What was written last may be missing after a crash of the store. The answer is
	// whether the oldest living node asked, which counts what concerns the whole cluster.
	AddStats(ctx context.Context, req AddStatsRequest) (oldest bool, err error)

	// Now reads the store's clock; it also serves as the cheapest ping.
	Now(ctx context.Context) (time.Time, error)
}
