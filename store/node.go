package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// RegisterRequest adds a node, or continues the registration of a node.
type RegisterRequest struct {
	Now time.Time
	// Continue, if not 0, is the number of a node whose program was replaced: the node keeps
	// its number, its name and its claims, its lease is extended as by a heartbeat, and the
	// other fields replace what was registered.
	Continue int64

	Name    string // for people: host, process and a random part
	Lease   time.Duration
	Version string
	Host    string   // the host on which it runs; several nodes may share it
	Labels  []string // KEY=VALUE, each once, in byte order
	Queues  []string
	Kinds   []string
	Zones   []string // the data of the time zones in use: ZonePrint of each, in byte order
	// Problems are what is wrong with the node at present.
	Problems []NodeProblem
}

// NodeProblem is something that is wrong with a node, as the node reports it.
type NodeProblem struct {
	Name    string    `json:"name"`    // the sort of problem
	Subject string    `json:"subject"` // what it is about, such as a file
	Text    string    `json:"text"`    // what is wrong; without secrets
	Since   time.Time `json:"since"`   // when the node reported it first, by the store's clock
}

// EncodeProblems returns problems as the text that a column has, a JSON list; nil for none.
func EncodeProblems(list []NodeProblem) *string {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil { // impossible: texts and instants of years with four digits
		return nil
	}
	column := string(text)
	return &column
}

// ZonePrint returns what a node registers of a time zone: its name, and the fingerprint of its data on the node.
func ZonePrint(zone, fingerprint string) string { return zone + "=" + fingerprint }

// CutZonePrint is the inverse of ZonePrint.
func CutZonePrint(text string) (zone, fingerprint string) {
	zone, fingerprint, _ = strings.Cut(text, "=")
	return zone, fingerprint
}

// RegisterResult is the node's number and the store's clock.
type RegisterResult struct {
	Node     int64
	Now      time.Time
	Position Position // after the registration
}

// HeartbeatRequest extends a node's lease.
type HeartbeatRequest struct {
	Now  time.Time
	Node int64
	// EndedBatches are claims (ClaimResult.Batch) whose jobs have all ended,
	// so that a driver can forget them.
	EndedBatches []int64
}

// HeartbeatResult is the store's clock and position, and the state of the other
// nodes.
type HeartbeatResult struct {
	Now time.Time // the store's clock
	// NextExpiry is when a Rescue may have something to do: when the first lease of
	// another node expires without a heartbeat, or when a job is looked at again
	// that a Rescue or a Leave has left to an open transaction. Zero: never, as far
	// as is known.
	NextExpiry time.Time
	// Beat counts the heartbeats of this node since it registered, this one
	// included. If it is not greater than the last count, the store went back in
	// time, or the node's number now belongs to another node.
	Beat int64
	// Releases means that there is something to do for CarryOut.
	Releases bool
	Position Position // read after the call began
}

// ClaimsRequest asks for a node's claims.
type ClaimsRequest struct {
	Now       time.Time // for Paused
	Node      int64
	Cancelled bool // only those for which a cancel request waits
	Paused    bool // only claims of jobs that an active pause concerns, running or not begun; not together with Cancelled
}

// RescueRequest looks for dead nodes. Only a node with a recent heartbeat may
// ask; see Nodes.Rescue.
type RescueRequest struct {
	Now  time.Time
	Node int64 // who asks
	Beat int64 // HeartbeatResult.Beat of the last heartbeat of Node that was answered; 0: none was
	// After, if not nil, returns the follow-up of each job that fails as lost
	// (nil: none). It is a pure function that drivers call, possibly more than
	// once, within the transaction; it must not call the store.
	After func(LostJob) *FollowUp
}

// LostJob is a job that fails because its node died.
type LostJob struct {
	JobSpec      // without Args
	ID           int64
	Token        int64
	Attempt      int16
	Origin       Origin
	Schedule     int64
	ScheduleName string
	Slot         time.Time
}

// Claimed returns what is known of the claim that was lost.
func (j LostJob) Claimed() Claimed {
	return Claimed{
		JobSpec: j.JobSpec, ID: j.ID, Token: j.Token, Attempt: j.Attempt, Origin: j.Origin,
		Schedule: j.Schedule, ScheduleName: j.ScheduleName, Slot: j.Slot,
	}
}

// LeaveRequest ends a node's registration.
type LeaveRequest struct {
	Now   time.Time
	Node  int64
	After func(LostJob) *FollowUp // as in RescueRequest
}

// LookAgain is the time after which a job is looked at again that a Rescue or a
// Leave has left to an open transaction.
const LookAgain = 500 * time.Millisecond

// RescueResult lists the nodes that were ended, and the jobs that were taken from
// them or from nodes that had ended before.
type RescueResult struct {
	Nodes []NodeInfo
	Jobs  []RescuedJob
}

// RescuedJob is a job that was taken from a node.
type RescuedJob struct {
	ID    int64
	Token int64 // of the claim that was lost
	Kind  string
	Queue string
	Node  int64 // who lost it
	State State // ready, failed or cancelled
	// Begun means that the job may have begun; see Loss.
	Begun bool
}

// CheckForgotten returns why what is known of a host is not deleted, or nil: living is the number of its nodes that live, or that
// still hold jobs after their end, and known the number of its other nodes and of its copies.
func CheckForgotten(host string, living, known int) error {
	switch {
	case living > 0:
		return fmt.Errorf("host %q: %w: a node of it lives", host, ErrConflict)
	case known == 0:
		return fmt.Errorf("host %q: %w", host, ErrNotFound)
	}
	return nil
}

// NodeInfo is a node as it is shown to users.
type NodeInfo struct {
	ID        int64
	Name      string
	Version   string
	Host      string   // empty: a node of a release without hosts
	Labels    []string // as in RegisterRequest
	Queues    []string
	Kinds     []string
	Zones     []string // as in RegisterRequest
	Problems  []NodeProblem
	Lease     time.Duration
	StartedAt time.Time
	SeenAt    time.Time // last heartbeat
	EndedAt   time.Time // zero: alive as far as the store knows
	Died      bool      // declared dead, rather than having left
	Beats     int64     // heartbeats since it registered; 0 after its end
	Running   int64     // jobs that it has claimed
}

// Alive reports whether the node lives as far as the store knows: it has not ended, and its lease has not expired at now, an instant
// of the store's clock.
func (n NodeInfo) Alive(now time.Time) bool {
	return n.EndedAt.IsZero() && !n.SeenAt.Add(n.Lease).Before(now)
}

// Serves reports whether the node takes jobs from a queue, which may be the queue of a place.
func (n NodeInfo) Serves(queue string) bool {
	if slices.Contains(n.Queues, queue) {
		return true
	}
	base, place, placed := CutPlace(queue)
	return placed && place != "" && slices.Contains(n.Queues, base) && (place == n.Host || slices.Contains(n.Labels, place))
}

// Runs reports whether the node has code for a kind, also if it runs only jobs of the kind that its own files declare.
func (n NodeInfo) Runs(kind string) bool {
	return slices.Contains(n.Kinds, kind) || slices.Contains(n.Kinds, kind+Restricted)
}

// Restricted is the suffix that marks a restricted kind in the list of a node's kinds: of such a kind
// the node runs only the jobs that its own files declare.
const Restricted = " (restricted)"

// QueueInfo counts a queue's live jobs.
type QueueInfo struct {
	Name      string
	Ready     int64 // due now
	Scheduled int64 // due later
	Running   int64
	Waiting   int64
	Oldest    time.Time // the earliest run_at of the jobs that are due now; zero: none is due
	Estimated bool      // the counts are estimates; see ListRequest.Estimate
}

// KindInfo counts a kind's live jobs.
type KindInfo QueueInfo

// GroupInfo counts the schedules and the live jobs of a group.
type GroupInfo struct {
	Name      string
	Schedules int64 // without deleted schedules
	Ready     int64 // due now
	Scheduled int64 // due later
	Running   int64
	Waiting   int64
	Estimated bool // the counts are estimates; see ListRequest.Estimate
}

// PruneRequest has the ages from which rows are deleted. A zero duration keeps
// that sort for ever. The ages of jobs do not apply to jobs that ended with an
// Outcome.Keep.
type PruneRequest struct {
	Now       time.Time
	Completed time.Duration // completed and cancelled jobs, since they finished
	Failed    time.Duration // failed jobs, and jobs that were not started
	Slots     time.Duration // records of slots, since they were recorded
	Nodes     time.Duration // nodes that ended, and older copies of hosts without nodes
	Audit     time.Duration // entries of the audit
	Limit     int           // rows of each sort
}

// BatchAge returns the age from which on a batch without jobs is deleted, so that a walk
// over older batches meets few others; 0: never.
func (r PruneRequest) BatchAge() time.Duration {
	if r.Completed == 0 || r.Failed == 0 {
		return 0
	}
	return max(r.Completed, r.Failed)
}

// PruneResult counts the deleted rows, except expired holds of keys.
type PruneResult struct {
	Jobs  int
	Slots int
	Nodes int
	// Events counts rows of the feed: a row may have many events. They are deleted by the
	// age that PutFeed has set.
	Events int
	Audit  int  // entries of the audit
	More   bool // some sort reached Limit: ask again
}
