package store

import (
	"context"
	"strings"
	"time"
)

// Definitions stores what has a name and a definition: calendars, limits, handlers and pauses; and the setting of the feed.
//
// A calendar is part of the schedules that name it (PutSchedule.Calendars). A caller that reads a schedule and then the calendars
// that it names has the calendars of the schedule's revision, or newer calendars; in that case the schedule has a newer revision,
// too.
type Definitions interface {
	// Put creates or changes definitions of one sort, all or none; PutRequest lists what it refuses. An unchanged definition keeps
	// its row as it is, and a repetition changes nothing.
	Put(ctx context.Context, req PutRequest) (PutResult, error)

	// Delete deletes definitions of one sort by name, or what is known of hosts, all or none. It refuses: ErrNotFound for a name that
	// does not exist, ErrConflict for a wrong IfRevision, ErrInUse for a calendar that a live schedule names.
	Delete(ctx context.Context, req DeleteRequest) error
}

// PutRequest creates or changes calendars, limits, handlers or pauses, each name at most once, or the setting of the feed; the other
// fields are empty.
//
// A changed calendar gets a new revision, and so does every live schedule that names it, as if the schedule had been edited; except
// Revision, the schedules' rows stay as they are. A limit whose scope changes gets a new row; the old row stays until its lanes are
// empty.
//
// It refuses, and writes nothing: ErrConflict for a wrong IfRevision (any value, if there is no such row), and for the name of a
// limit of another owner; more limits than MaxLimits, and more handlers than MaxHandlers; ErrUnsettled if a schedule that names a
// calendar that would change is due: next_at is not after now. (PutSchedules moves marks, so that it can accept schedules whose
// next_at is not after their mark; Put moves no marks.)
//
// A subject that is paused already keeps At and gets the other values of the request, and a subject need not exist. ErrUnsettled if
// a schedule of a group whose pause changes, or is deleted, is unsettled, as for PutSchedules. No claim that returns after the put has
// returned has a job of the subject, no BeginJobs that is called after it lets such a job begin, and no firing of the group's
// schedules that was decided before the pause is accepted. Nodes are woken by WakeCancels after the last claim of such a job, to hand
// back jobs that have not begun. After an error the subject may be paused, and claims that began before the call may still take its
// jobs. A store may move due jobs of a paused subject out of the way of claims, in steps; such a job is ready for callers.
type PutRequest struct {
	Now       time.Time
	Calendars []PutCalendar
	Limits    []PutLimit
	Handlers  []PutHandler
	Pauses    []PutPause
	Feed      *PutFeed
	By        Actor // recorded in the audit
	// AtOnce is how many jobs that no node has claimed give permits back in the call. What exceeds it follows in steps of claims.
	// 0: 10,000; another number only for tests.
	AtOnce int
}

// PutResult has the result for each definition.
type PutResult struct {
	Revisions []int64 // of calendars or limits, in the order of the request
	Changed   int     // created or changed; of pauses, created; of the feed, 0
	// Revised has the names of the schedules that got a new revision, in any order.
	Revised []string
}

// DeleteRequest names definitions of one sort, or hosts. The end of a pause wakes nodes.
type DeleteRequest struct {
	// Of is OfCalendars, OfLimits, OfHandlers, OfPauses or OfNodes. Of nodes, Names are hosts: their nodes, which have ended, are deleted, and the
	// copies that the hosts declared (Copy). ErrConflict if a node of a host lives, or still holds jobs; ErrNotFound if there is neither.
	Of    Subject
	Now   time.Time
	Names []string
	By    Actor // recorded in the audit
	// IfRevision, of calendars and limits, is the revision that each of them must have (ErrConflict). 0: any.
	IfRevision int64
	// Subject is the sort of subjects whose pauses end.
	Subject PauseSubject
}

// Of returns the sort of the definitions.
func (r *PutRequest) Of() Subject {
	switch {
	case len(r.Calendars) > 0:
		return OfCalendars
	case len(r.Handlers) > 0:
		return OfHandlers
	case len(r.Pauses) > 0:
		return OfPauses
	case r.Feed != nil:
		return OfFeed
	}
	return OfLimits
}

// String returns what the request does, such as "put limits".
func (r *PutRequest) String() string { return "put " + subjects[r.Of()] }

// Operation returns the name of the call in lower case, such as put_limits.
func (r *PutRequest) Operation() string { return strings.ReplaceAll(r.String(), " ", "_") }

// String returns what the request does, such as "delete limits".
func (r *DeleteRequest) String() string { return "delete " + subjects[r.Of] }

// Operation returns the name of the call in lower case, such as delete_limits.
func (r *DeleteRequest) Operation() string { return strings.ReplaceAll(r.String(), " ", "_") }
