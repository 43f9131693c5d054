package store

import (
	"context"
	"strings"
	"time"
)

// Listings reads what is stored.
type Listings interface {
	// List returns rows of one sort, in the order of their sort. The conditions that are given must all hold. It only reads.
	List(ctx context.Context, req ListRequest) (Listing, error)
}

// Subject is a sort of rows that List returns.
type Subject int

// The sorts of rows, with their order, and the fields of a ListRequest that they heed besides Now and Tx.
const (
	// OfAudit lists the audit, newest entry first: Actor, Action, Subject, From, Before, Limit.
	OfAudit Subject = iota
	// OfBatches lists batches, greatest number first: IDs, Before (its ID), Limit. Their counts are exact at one instant,
	// and all jobs of these batches are read for them.
	OfBatches
	// OfCalendars lists calendars by name: Names, After, Limit.
	OfCalendars
	// OfEnds lists the ends that due schedules with predecessors have to account for, by schedule, then by slot: IDs of the
	// dependents, without which nothing is listed, and Limit. Tx is as in DueSchedulesRequest.
	OfEnds
	// OfGroups counts the groups that a schedule or a live job has, by name: Names (at most one), Estimate.
	OfGroups
	// OfHandlers lists all handlers by name.
	OfHandlers
	// OfKinds counts the live jobs of each kind, by name: Estimate.
	OfKinds
	// OfLimits lists limits by name: Names, Lanes.
	OfLimits
	// OfLimitWaits lists, by job and by number of the limit, why limits let ready jobs wait: the lane in which a job waits, and each
	// limit of the whole queue of a job. Jobs that no limit concerns are missing: IDs of jobs, without which nothing is listed.
	OfLimitWaits
	// OfLinks lists the edges of jobs, and the edges of their dependents on them, by dependent and predecessor: IDs of jobs,
	// without which nothing is listed, and Limit, of both sorts of edges.
	OfLinks
	// OfNodes lists live nodes and ended nodes that Prune still keeps, greatest number first.
	OfNodes
	// OfOwners lists the owners that were synced, with the copies of their hosts, by name: Names, After, Limit.
	OfOwners
	// OfPauses lists the active pauses, by subject and by name.
	OfPauses
	// OfPosition lists one row: how far the store has come.
	OfPosition
	// OfQueues counts the live jobs of each queue, by name: Estimate.
	OfQueues
	// OfSchedules lists schedules by name: Names, IDs, Owner, Calendar, Group, Failed, MarkAfter, Deleted, After, Limit.
	OfSchedules
	// OfSlots lists records of slots, newest first: Names (at most one) of a schedule, HostsOf, Group, From, To, Before, Limit.
	// With IDs of schedules, each once, the newest Limit records of each are listed, schedule by schedule in this order; the other
	// conditions do not count then.
	OfSlots
	// OfStats lists rows of statistics of one span, by instant, then by writer. Span, From and To are required.
	OfStats
	// OfSteps lists what jobs remember, by job, place and name: IDs of jobs, without which nothing is listed.
	OfSteps
	// OfFeed is the setting of the feed, for a PutRequest; ListEvents returns it.
	OfFeed
)

// ListRequest asks for rows of one sort. Names are compared and ordered byte by byte.
type ListRequest struct {
	Of  Subject
	Now time.Time // for what is due or active; zero: the store's clock
	Tx  Tx        // the caller's transaction, which sees its own changes; nil: one of the driver's own

	Names []string // only rows with these names; empty: all
	IDs   []int64  // only rows with these numbers, or of these jobs; empty: all
	// Owner, Calendar and Group are of schedules: their owner (nil: any), a calendar that they name, and their group. Group is also
	// the group that the schedules of slots have now. The empty text is no condition.
	Owner           *string
	Calendar, Group string
	Deleted         bool // tombstones of schedules too
	// Failed asks for schedules with a failed job among the newest FailedAmong jobs that did not complete, and MarkAfter, if not
	// zero, for schedules that are accounted for beyond this instant.
	Failed    bool
	MarkAfter time.Time
	// HostsOf, if not empty, is a schedule by name: records of this schedule, and of the schedules of hosts that are made from it,
	// also of deleted schedules (EveryOwner).
	HostsOf string
	// Actor, by name, Action and Subject are of entries of the audit; the empty text and nil are no conditions. Subject is one of the
	// subjects of the entry.
	Actor, Action string
	Subject       *AuditSubject
	// From and To are of records whose range ends at From or later, and begins before To. From is also the earliest instant of
	// entries of the audit and of rows of statistics, and To is after the instants of these rows. The zero time is no condition.
	From, To time.Time
	Span     time.Duration // of statistics: one of StatsSpans

	After  string // only names after this one
	Before Cursor // only rows after the cursor in the order of the sort
	Limit  int    // at least 1
	// Lanes is how many lanes of each limit are returned: the lanes with the most permits in use.
	Lanes int

	// Estimate permits estimates of counts, because counting very many jobs takes long. A store that can estimate counts for at
	// most Within, and then reads samples: a few thousand jobs, and an estimate of no more jobs than that is exact. Estimated is then
	// set. Of queues, Oldest is exact, but leaves out jobs of paused groups, and a queue may be missing if all its jobs wait, and
	// they are few. Of kinds, Oldest is an estimate, too, and a kind may be missing if it has few jobs. No group is missing.
	Estimate bool
	Within   time.Duration // 0: estimate at once
}

// FailedAmong is among how many finished jobs that did not complete, the newest by their numbers, List looks for schedules with
// failed jobs, so that a listing costs little however many jobs failed.
const FailedAmong = 5000

// Cursor is the position of the last row read in a listing from newest to oldest: an instant, unless rows are ordered by their number
// alone, then the number. The zero value: from the newest row.
type Cursor struct {
	At time.Time // of slots, the (first) slot
	ID int64
}

// Name returns the name that is asked for; empty: any.
func (r *ListRequest) Name() string {
	if len(r.Names) == 0 {
		return ""
	}
	return r.Names[0]
}

// String returns what the request does, such as "list schedules".
func (r *ListRequest) String() string {
	if r.Estimate {
		return "estimate " + subjects[r.Of]
	}
	return "list " + subjects[r.Of]
}

// Operation returns the name of the call in lower case, such as list_schedules; see internal/intercept.
func (r *ListRequest) Operation() string { return strings.ReplaceAll(r.String(), " ", "_") }

// subjects are the words for the sorts.
var subjects = [...]string{
	"audit", "batches", "calendars", "ends", "groups", "handlers", "kinds", "limits", "limit waits", "links", "nodes", "owners", "pauses",
	"position", "queues", "schedules", "slots", "stats", "steps", "feed",
}

// Listing has the rows of the sort that was asked for.
type Listing struct {
	Audit      []AuditEntry
	Batches    []Batch
	Calendars  []Calendar
	Ends       []ScheduleEnd
	Groups     []GroupInfo
	Handlers   []Handler
	Kinds      []KindInfo
	Limits     []LimitInfo
	LimitWaits []LimitWait
	Links      []Link
	Nodes      []NodeInfo
	Owners     []Owner
	Pauses     []Pause
	Position   []Position
	Queues     []QueueInfo
	Schedules  []Schedule
	Slots      []SlotInfo
	Stats      []StatsRow
	Steps      []Step
}

// Listed are the types of the rows that List returns.
type Listed interface {
	AuditEntry | Batch | Calendar | GroupInfo | Handler | KindInfo | LimitInfo | LimitWait | Link | NodeInfo | Owner | Pause |
		Position | QueueInfo | Schedule | ScheduleEnd | SlotInfo | StatsRow | Step
}

// List returns the rows of the sort that has this type; the request's Of is not used.
func List[Row Listed](ctx context.Context, from Listings, req ListRequest) ([]Row, error) {
	var list Listing
	for i, rows := range list.all() {
		if _, is := rows.(*[]Row); is {
			req.Of = Subject(i)
		}
	}
	list, err := from.List(ctx, req)
	return *list.all()[req.Of].(*[]Row), err
}

// all returns pointers to the rows of each sort, in the order of the subjects.
func (l *Listing) all() []any {
	return []any{
		&l.Audit, &l.Batches, &l.Calendars, &l.Ends, &l.Groups, &l.Handlers, &l.Kinds, &l.Limits, &l.LimitWaits, &l.Links, &l.Nodes, &l.Owners,
		&l.Pauses, &l.Position, &l.Queues, &l.Schedules, &l.Slots, &l.Stats, &l.Steps,
	}
}
