package store

import (
	"crypto/sha256"
	"slices"
	"time"
)

// The requests and results of claims, and of their beginnings.

// ClaimRequest asks for due jobs: of one of Kinds, or equal to one of Exact.
type ClaimRequest struct {
	Now   time.Time // the instant of the claim, in a test; zero: the store's clock
	Node  int64
	Queue string
	Kinds []string
	Exact []ExactJob
	Limit int // how many jobs are returned at most
	// Ahead is how many of Limit jobs are claimed ahead: the first Limit - Ahead
	// of the returned jobs, in their order, may begin at once, and each of the
	// others only after a BeginJobs that names it.
	Ahead int
	// Part permits the claim to leave out due jobs, because a claim is faster if it need not search all due jobs: it may begin at a
	// low-water cursor, the position up to which earlier claims of the node have found every due job. Repeated claims of a node reach
	// every due job, also if each claim returns Limit jobs: no job is left out for ever. A node that repeats the claim after each
	// ClaimResult.Again reaches a job soon; a job that becomes due later at a position that was searched already may have to wait
	// until the node polls. A store may ignore Part, and search as much as without it if Now is set.
	Part bool
	// Suspects asks for suspects only (see SuspectLosses). Without it a claim
	// takes no suspects.
	Suspects bool
	// DueFor, if not 0, is for a claim of aged jobs: it takes only jobs that have been due for DueFor or longer, and of
	// them the jobs that have been due for longest, whatever their priority. It returns them in the order of CompareClaimed.
	// Not with Suspects.
	DueFor time.Duration
	// Polled, if not empty, is the note of a shared poll; see Connection.SharedPolls.
	Polled string
	// Within is the queue within which Queue is the queue of a place; empty: Queue is none. The limits
	// of whole queues are the limits of Within.
	Within string
	// Permits is the last answer to ExchangePermits for the queue that has the limits; zero:
	// none. The claim takes no job if its Revision is not the greatest revision of these limits; 0: there are none.
	// If it is Rated, the claim takes no more jobs than may start, and all of them may begin at once.
	Permits QueuePermits
	// Starts means that the caller starts all jobs of the claim at once, as a rate of a kind or of keys requires
	// (Limit.Rate). Without it, a claim from a queue that such a rate concerns takes no job (ClaimResult.Rated).
	Starts bool
}

// Limited returns the queue whose limits of the whole queue concern the claim.
func (r *ClaimRequest) Limited() string {
	if r.Within != "" {
		return r.Within
	}
	return r.Queue
}

// DueBy returns the latest run_at that a job of the claim may have, at the instant now.
func (r *ClaimRequest) DueBy(now time.Time) time.Time { return now.Add(-r.DueFor) }

// ExactJob allows jobs of a kind with exactly these arguments, byte for byte.
// With it a node that does not run every job of a kind runs the jobs that its
// own files declare.
type ExactJob struct {
	Kind   string
	Args   []byte
	SHA256 [sha256.Size]byte // of Args, for drivers that compare it in their place
}

// NewExactJob returns an ExactJob with its digest.
func NewExactJob(kind string, args []byte) ExactJob {
	return ExactJob{Kind: kind, Args: args, SHA256: sha256.Sum256(args)}
}

// ClaimResult is a batch of claimed jobs, in the order in which they start.
type ClaimResult struct {
	Now  time.Time // the store's clock
	Jobs []Claimed
	// Batch, if not 0, names this claim for HeartbeatRequest.EndedBatches.
	Batch int64
	// Again, if not 0, means that the claim may have left out due jobs (ClaimRequest.Part), and is the time after which the claim has
	// to be repeated to reach them. It is not given if Limit jobs were returned.
	Again time.Duration
	// NextDue is, if the claim returned fewer jobs than rates let start, when the next claim may find more: the
	// earliest run_at after now among ready jobs of the queue, of any kind, except suspects; Until after now of any pause; and when a
	// lane may have permits again, which is now if work was left to the next claim. While the queue is paused, only pauses
	// count. Zero: there is no such instant, or the claim was of suspects.
	NextDue time.Time
	// LimitRevision is the greatest revision of the limits of the whole queue; 0: there are none.
	LimitRevision int64
	// NextStart is, if a rate left out jobs or might have, when the next job may start; zero: now.
	NextStart time.Time
	// Rated means that a rate of a kind or of keys concerns the queue: a claim without ClaimRequest.Starts has no jobs.
	Rated bool
	// StartsFrom is an instant of this process's clock, with its monotonic reading: the starts of the claim count under their rates as if
	// they came then or later. Zero: when the claim was sent.
	StartsFrom time.Time
	// Handled means that a handler has HandleStart, so that the node lets each job begin by
	// BeginJobs when a worker has it, and claims all jobs ahead.
	Handled bool
	// NoSuspects means that a claim of suspects from the queue would have returned no job just before this claim, whatever
	// its kinds, so that the caller need not ask. Stores that do not look for suspects leave it false.
	NoSuspects bool
}

// Claimed is a job that a node has claimed.
type Claimed struct {
	JobSpec
	ID        int64
	Token     int64
	Attempt   int16 // this one counted; the first is 1
	Origin    Origin
	RunAt     time.Time
	CreatedAt time.Time
	Schedule  int64
	// ScheduleName is the name of Schedule, also of a deleted one, or empty.
	ScheduleName string
	Slot         time.Time
	// Losses is how often in a row the job was lost (see Loss), and Refunds how often
	// an attempt was refunded by an Outcome with LeaseLost.
	Losses  int16
	Refunds int16
	// Slack is not zero if the claim has used a start under a rate of a kind or of keys: a job that does not begin so long after
	// ClaimResult.StartsFrom has to be released then. It is the least Rate.Slack.
	Slack time.Duration
}

// BeginRequest names claims whose jobs may begin from now on.
type BeginRequest struct {
	Now    time.Time
	Node   int64
	Name   string // of the node, for handlers
	Batch  int64  // ClaimResult.Batch of all of them
	Claims []ClaimRef
	// Starts is empty, or has what the start of each claim makes, in the places of Claims, which
	// are all claims of Node.
	Starts []Start
}

// Start is the start of an attempt and the jobs that it makes. They are inserted once for
// each BeginJobs that names a claim which the node holds, in the same transaction.
type Start struct {
	// Job is the claimed job, for handlers with HandleStart; nil: no handler.
	Job *Claimed
	// Hooks are inserted in any case. They have no Schedule.
	Hooks []NewJob
}

// HasHooks reports whether a start makes jobs without handlers.
func (r BeginRequest) HasHooks() bool {
	return slices.ContainsFunc(r.Starts, func(s Start) bool { return len(s.Hooks) > 0 })
}

// Without returns the request without the claims of some jobs.
func (r BeginRequest) Without(jobs []int64) BeginRequest {
	if len(jobs) == 0 {
		return r
	}
	claims, starts := r.Claims, r.Starts
	r.Claims, r.Starts = nil, nil
	for i, ref := range claims {
		if slices.Contains(jobs, ref.ID) {
			continue
		}
		r.Claims = append(r.Claims, ref)
		if len(starts) > 0 {
			r.Starts = append(r.Starts, starts[i])
		}
	}
	return r
}

// BeginResult is the result of BeginJobs.
type BeginResult struct {
	// Paused are the numbers of the jobs that do not begin, because a pause concerns them. The
	// node hands them back.
	Paused []int64
}

// ClaimRef names one claim of one job.
type ClaimRef struct {
	ID    int64
	Token int64
}
