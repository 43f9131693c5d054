package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Feed stores what happened to jobs and schedules as events, for subscribers of the whole
// cluster. The transaction that changes a job or a schedule stores its events, so that an
// event exists if and only if its cause was committed.
type Feed interface {
	// ListEvents returns events in the order of their cursors. An event is shown as soon
	// as no event with a smaller cursor can be committed any more, so that a reader that
	// continues after its last cursor misses nothing. It only reads.
	ListEvents(ctx context.Context, req ListEventsRequest) (ListEventsResult, error)
}

// EventType is what happened.
type EventType int16

// The types of events. Drivers store these numbers; they never change. The end of a job has
// the number of the state in which the job ended.
const (
	EventCompleted  = EventType(StateCompleted)
	EventFailed     = EventType(StateFailed)
	EventCancelled  = EventType(StateCancelled)
	EventNotStarted = EventType(StateNotStarted)

	EventRetried EventType = 16 // an attempt failed, and the job is ready again after a delay
	EventLost    EventType = 17 // an attempt was lost with its node; if the job ends by that, another event says so

	firstOfSchedules EventType = 32
	EventMissed      EventType = 32 // slots were missed
	EventSkipped     EventType = 33 // slots were skipped
	EventRecovery    EventType = 34 // a failing schedule is well again; see FollowUp
	EventNotFollowed EventType = 35 // a schedule was not started by the end of another; see SlotNotStarted
)

var eventNames = map[EventType]string{
	EventCompleted: "completed", EventFailed: "failed", EventCancelled: "cancelled", EventNotStarted: "not_started",
	EventRetried: "retried", EventLost: "lost", EventMissed: "missed", EventSkipped: "skipped", EventRecovery: "recovery",
	EventNotFollowed: "not_started",
}

// String returns the type's word.
func (t EventType) String() string {
	if name, ok := eventNames[t]; ok {
		return name
	}
	return fmt.Sprintf("event(%d)", int16(t))
}

// OfSchedule reports whether events of the type are about a schedule; all other events are
// about a job.
func (t EventType) OfSchedule() bool { return t >= firstOfSchedules }

// EventKeep is how long a new store keeps events.
const EventKeep = 24 * time.Hour

// MaxEventReason is how many characters of a reason an event has.
const MaxEventReason = 500

// EventCursor is the place of an event in the feed.
type EventCursor struct {
	// Tx and ID order the rows of the feed: Tx is the number of the transaction where the
	// database has such numbers, otherwise 0, and ID is greater than 0.
	Tx, ID int64
	// Left is how many events of the row come after the event.
	Left int
}

// String returns the cursor as users pass it on.
func (c EventCursor) String() string { return fmt.Sprintf("%d-%d-%d", c.Tx, c.ID, c.Left) }

// ParseEventCursor is the inverse of String. The zero cursor is before all events.
func ParseEventCursor(text string) (c EventCursor, err error) {
	bad := &check.FieldError{Field: "cursor", Value: check.Shorten(text), Problem: "is not a cursor of the feed", Remedy: "use the cursor of an event, or none"}
	parts := strings.Split(text, "-")
	if len(parts) != 3 {
		return EventCursor{}, bad
	}
	var numbers [3]int64
	for i, part := range parts {
		if numbers[i], err = strconv.ParseInt(part, 10, 64); err != nil || numbers[i] < 0 || part != strconv.FormatInt(numbers[i], 10) {
			return EventCursor{}, bad
		}
	}
	return EventCursor{Tx: numbers[0], ID: numbers[1], Left: int(numbers[2])}, nil
}

// Before reports whether the row of the cursor is before the row of another cursor.
func (c EventCursor) Before(other EventCursor) bool {
	return c.Tx < other.Tx || c.Tx == other.Tx && c.ID < other.ID
}

// Event is one event of the feed.
type Event struct {
	Cursor EventCursor
	At     time.Time // the store's clock when it was stored, in the transaction of its cause
	Type   EventType
	Job    int64 // the number of the job, or 0
	// Schedule and ScheduleName are set for types with OfSchedule only. The name is
	// also known after the schedule has been deleted.
	Schedule     int64
	ScheduleName string
	Slot         time.Time // of EventMissed, EventSkipped and EventNotFollowed: the first of the slots
	Count        int64     // of these: how many slots
	Reason       string    // at most MaxEventReason characters
}

// ListEventsRequest asks for a page of the feed.
type ListEventsRequest struct {
	After EventCursor // the cursor of the last event of the page before; zero: from the oldest event
	// Newest asks for the newest events instead, also in the order of their cursors.
	Newest bool
	Limit  int // events, at least 1; a page may be shorter although there are more events
}

// ListEventsResult is a page of the feed.
type ListEventsResult struct {
	Events []Event
	// Next is where the next page begins: the cursor of the last event or, without
	// events, a cursor that is not before After.
	Next EventCursor
	// More means that there are more events after Next already.
	More bool
	// Gap means that events after After may have been deleted, or that none were stored
	// for a while.
	Gap bool
	// Held is when the oldest event was stored that is not shown yet, because of a
	// transaction that is still open; zero: there is none.
	Held time.Time
	// Keep is how long events are kept; 0: none are stored.
	Keep time.Duration
}

// PutFeed sets for how long events are kept: at least that long, and until a Prune
// afterwards. 0 means that no events are stored; it holds for transactions that begin after
// the call. Readers of a feed that was switched on again get a Gap.
type PutFeed struct {
	Keep time.Duration // in whole microseconds, not negative
}

// EventRow is a row of the feed: events of one type that one transaction stored. Slots and
// Counts are empty or as long as Subjects; so is Reasons.
type EventRow struct {
	Cursor   EventCursor // Left means nothing
	At       time.Time
	Type     EventType
	Subjects []int64  // numbers of jobs or schedules
	Names    []string // of schedules, when the row is read
	Slots    []time.Time
	Counts   []int64
	Reasons  []string
}

// EventRows are rows to be stored by one transaction, at most one for each type.
type EventRows []EventRow

// row returns the row of a type, which it adds if there is none.
func (l *EventRows) row(t EventType) *EventRow {
	i := slices.IndexFunc(*l, func(row EventRow) bool { return row.Type == t })
	if i < 0 {
		i = len(*l)
		*l = append(*l, EventRow{Type: t})
	}
	return &(*l)[i]
}

// Add adds an event without a slot.
func (l *EventRows) Add(t EventType, subject int64, reason string) {
	row := l.row(t)
	if reason != "" && row.Reasons == nil {
		row.Reasons = make([]string, len(row.Subjects))
	}
	if row.Subjects = append(row.Subjects, subject); row.Reasons != nil {
		row.Reasons = append(row.Reasons, eventReason(reason))
	}
}

// AddSlots adds an event for a record of slots, unless they fired.
func (l *EventRows) AddSlots(schedule int64, record SlotRecord) {
	var t EventType
	switch record.Outcome {
	case SlotMissed:
		t = EventMissed
	case SlotSkipped:
		t = EventSkipped
	case SlotNotStarted:
		t = EventNotFollowed
	default:
		return
	}
	l.Add(t, schedule, record.Reason)
	row := l.row(t)
	row.Slots, row.Counts = append(row.Slots, record.Slot), append(row.Counts, record.Count)
}

// AddAttempts adds the events of records of attempts.
func (l *EventRows) AddAttempts(records []AttemptRecord) {
	for _, r := range records {
		switch r.Outcome {
		case AttemptRetried:
			l.Add(EventRetried, r.ID, r.Error)
		case AttemptLost:
			l.Add(EventLost, r.ID, r.Error)
		}
	}
}

// AddRecoveries adds the recoveries of schedules.
func (l *EventRows) AddRecoveries(schedules []int64) {
	for _, id := range schedules {
		l.Add(EventRecovery, id, "")
	}
}

// eventReason returns the part of a reason that an event has.
func eventReason(text string) string {
	n := 0
	for i := range text {
		if n == MaxEventReason {
			return text[:i]
		}
		n++
	}
	return text
}

// events returns the events of a row.
func (r *EventRow) events() []Event {
	events := make([]Event, len(r.Subjects))
	for i, subject := range r.Subjects {
		e := &events[i]
		*e = Event{Cursor: EventCursor{r.Cursor.Tx, r.Cursor.ID, len(events) - 1 - i}, At: r.At, Type: r.Type, Job: subject}
		if r.Type.OfSchedule() {
			e.Job, e.Schedule = 0, subject
		}
		if i < len(r.Names) {
			e.ScheduleName = r.Names[i]
		}
		if i < len(r.Slots) {
			e.Slot = r.Slots[i]
		}
		if i < len(r.Counts) {
			e.Count = r.Counts[i]
		}
		if i < len(r.Reasons) {
			e.Reason = r.Reasons[i]
		}
	}
	return events
}

// EventsBegin returns from which row on a driver reads for a request, that row included, and
// whether there is a gap. gone is the last row that was deleted, or after which storing was
// switched on; zero: none.
func EventsBegin(req ListEventsRequest, gone EventCursor) (from EventCursor, gap bool) {
	from = req.After
	from.Left = 0
	if !gone.Before(from) && gone != (EventCursor{}) {
		gap = from != (EventCursor{}) && (from != gone || req.After.Left > 0)
		from = EventCursor{Tx: gone.Tx, ID: gone.ID + 1}
	}
	return from, gap && !req.Newest
}

// EventRowsRead is how many rows of the feed a driver reads for a request.
func EventRowsRead(req ListEventsRequest) int {
	if req.Newest {
		return req.Limit // each row has at least one event
	}
	return min(req.Limit, 50) + 1
}

// EventsPage completes a page from rows in the order of their cursors: up to EventRowsRead
// rows from EventsBegin on, or the last EventRowsRead rows if the newest events are asked for. out has
// all fields but Events, Next and More.
func EventsPage(req ListEventsRequest, rows []EventRow, from EventCursor, out ListEventsResult) ListEventsResult {
	out.Next = req.After
	if out.Gap {
		out.Next = EventCursor{Tx: from.Tx, ID: from.ID - 1}
	}
	for i := range rows {
		out.Events = append(out.Events, rows[i].eventsAfter(req)...)
	}
	switch extra := len(out.Events) - req.Limit; {
	case extra > 0 && req.Newest:
		out.Events = out.Events[extra:]
	case extra > 0:
		out.Events, out.More = out.Events[:req.Limit], true
	default:
		out.More = !req.Newest && len(rows) == EventRowsRead(req)
	}
	if n := len(out.Events); n > 0 {
		out.Next = out.Events[n-1].Cursor
	}
	return out
}

// eventsAfter returns the events of a row that a request has not read: some of them, if the cursor of the request is within the row.
func (r *EventRow) eventsAfter(req ListEventsRequest) []Event {
	events := r.events()
	if !req.Newest && r.Cursor.Tx == req.After.Tx && r.Cursor.ID == req.After.ID {
		return events[max(len(events)-req.After.Left, 0):]
	}
	return events
}
