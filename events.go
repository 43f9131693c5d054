package hourbell

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// EventService delivers and counts the events of this process: Client.Events.
// Concurrent calls are allowed.
type EventService struct{ client *Client }

// Subscribe delivers the events of this process from now on, until stop is
// called, which closes the channel. buffer (at least 1) is how many events wait
// for a slow reader; further events are dropped for this reader. A reader that
// must not miss anything reads the store instead, with List or Follow.
//
// The events are those that any of the selections has; without a selection, all except
// event.Step.
func (s *EventService) Subscribe(buffer int, selections ...event.Selection) (events <-chan event.Event, stop func()) {
	if len(selections) == 0 {
		selections = []event.Selection{{}}
	}
	return s.client.relay.subscribe(max(buffer, 1), slices.Clone(selections))
}

// Counts returns how often each kind of event has happened in this process
// since the client was made. For example, event.ClaimLost counts the outcomes
// that were refused because another node had taken the job.
func (s *EventService) Counts() map[event.Kind]int64 {
	return s.client.relay.counted()
}

// relay passes events to the log and to subscribers, and counts them. Concurrent
// calls are allowed.
type relay struct {
	log       event.Sink
	schedules scheduleCounts
	observers []*event.Queue
	stuck     *event.Queue // of Config.OnStuck; nil: none

	mu          sync.RWMutex
	counts      map[event.Kind]*atomic.Int64
	subscribers []subscriber
}

// subscriber is a reader of Subscribe.
type subscriber struct {
	events     chan event.Event
	selections []event.Selection
}

func (r *relay) send(e event.Event) {
	r.schedules.add(e)
	r.log(e)
	for _, o := range r.observers {
		o.Send(e)
	}
	if e.Kind == event.JobStuck && r.stuck != nil {
		r.stuck.Send(e)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for r.counts[e.Kind] == nil { // the first event of its kind
		r.mu.RUnlock()
		r.know(e.Kind)
		r.mu.RLock()
	}
	r.counts[e.Kind].Add(1)
	for _, s := range r.subscribers {
		if !slices.ContainsFunc(s.selections, func(one event.Selection) bool { return one.Has(e) }) {
			continue
		}
		select {
		case s.events <- e:
		default:
		}
	}
}

// observe adds observers before the first event.
func (r *relay) observe(observers []event.Observer) {
	for _, o := range observers {
		r.observers = append(r.observers, event.NewQueue(o, r.send))
	}
}

// onStuck has call called with each event event.JobStuck; nil: none. It is called before the first event.
func (r *relay) onStuck(call func(event.Event)) {
	if call != nil {
		r.stuck = event.NewQueue(event.Sink(call), r.send)
	}
}

// callObservers returns the observers that also receive the calls of the store.
func callObservers(observers []event.Observer) (found []event.CallObserver) {
	for _, o := range observers {
		if c, ok := o.(event.CallObserver); ok {
			found = append(found, c)
		}
	}
	return found
}

// flush waits until the observers have received all events, but not after ctx
// has ended.
func (r *relay) flush(ctx context.Context) {
	for _, o := range r.observers {
		o.Flush(ctx)
	}
	if r.stuck != nil {
		r.stuck.Flush(ctx)
	}
}

// know makes a counter for a kind of event.
func (r *relay) know(kind event.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[event.Kind]*atomic.Int64{}
	}
	if r.counts[kind] == nil {
		r.counts[kind] = &atomic.Int64{}
	}
}

func (r *relay) counted() map[event.Kind]int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	counts := make(map[event.Kind]int64, len(r.counts))
	for kind, n := range r.counts {
		counts[kind] = n.Load()
	}
	return counts
}

func (r *relay) subscribe(buffer int, selections []event.Selection) (<-chan event.Event, func()) {
	c := make(chan event.Event, buffer)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribers = append(r.subscribers, subscriber{c, selections})
	return c, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.subscribers = slices.DeleteFunc(r.subscribers, func(other subscriber) bool { return other.events == c })
		close(c)
	})
}

// FeedEvent is an event of the feed: what happened to a job or a schedule anywhere in the
// cluster. Fields that are not known are zero.
type FeedEvent struct {
	// Cursor is the place of the event in the feed, for EventFilter.Since.
	Cursor string
	At     time.Time // the store's clock, in the transaction of the event's cause
	// Event is the word of a store.EventType, such as failed, or FeedGap.
	Event string
	// Job is the number of the job; 0: the event is about a schedule. Kind, Queue, Group, Node
	// and Attempt describe the job at the time when the event is read; Node and Attempt are of its
	// last attempt. They are zero if the job has been deleted since.
	Job                int64
	Kind, Queue, Group string
	Node               string
	Attempt            int
	Schedule           string    // the schedule, or the schedule of the job
	Slot               time.Time // of the job, or the first of missed or skipped slots
	Count              int64     // of missed or skipped slots
	Reason             string    // at most store.MaxEventReason characters
}

// FeedGap is FeedEvent.Event where events are missing: they were deleted because they were
// older than the feed keeps them, or no events were stored for a while.
const FeedGap = "gap"

// EventFilter selects a page of the feed.
type EventFilter struct {
	// Since is the cursor of an event or EventPage.Next: events after it, oldest first. Empty:
	// the newest events.
	Since string
	Limit int // default 100; a page may be shorter although there are more events
}

// EventPage is a page of the feed.
type EventPage struct {
	Events []FeedEvent
	// Next is where the next page begins, also if this page is empty.
	Next string
	// More means that there are more events after Next already.
	More bool
	// Held is since when events are not shown yet, because a transaction that began before
	// theirs is still open; zero: none are.
	Held time.Time
	// Keep is how long events are kept; 0: none are stored.
	Keep time.Duration
}

// mostFeedEvents bounds a page of the feed.
const mostFeedEvents = 1000

// feedPoll is the pause between two reads of the feed that found all events read.
const feedPoll = 500 * time.Millisecond

// List reads the feed, which has the events of the whole cluster, with older events first.
// Events that are after a cursor are committed after it has been read, so that a reader who
// passes the last cursor as Since misses no event as long as events are kept. If events are
// missing, the first event of the page is a FeedGap.
func (s *EventService) List(ctx context.Context, f EventFilter) (EventPage, error) {
	req := store.ListEventsRequest{Newest: f.Since == "", Limit: min(pageSize(f.Limit), mostFeedEvents)}
	if !req.Newest {
		var err error
		if req.After, err = store.ParseEventCursor(f.Since); err != nil {
			return EventPage{}, fmt.Errorf("list events: %w", err)
		}
	}
	res, err := s.client.backend.ListEvents(ctx, req)
	if err != nil {
		return EventPage{}, err
	}
	page := EventPage{Next: res.Next.String(), More: res.More, Held: res.Held, Keep: res.Keep}
	if res.Gap {
		page.Events = append(page.Events, gapOf(res))
	}
	jobs, err := s.jobsOf(ctx, res.Events)
	if err != nil {
		return EventPage{}, err
	}
	for _, e := range res.Events {
		job := jobs[e.Job]
		one := FeedEvent{
			Cursor: e.Cursor.String(), At: e.At, Event: e.Type.String(), Job: e.Job, Kind: job.Kind, Queue: job.Queue, Group: job.Group,
			Node: job.Node, Attempt: int(job.Attempt), Schedule: job.ScheduleName, Slot: job.Slot, Count: e.Count, Reason: e.Reason,
		}
		if e.Type.OfSchedule() {
			one.Schedule, one.Slot = e.ScheduleName, e.Slot
		}
		page.Events = append(page.Events, one)
	}
	return page, nil
}

// gapOf returns the event for events that are missing. Its cursor is right before the events of the page, so that a reader who
// continues after it is not warned again.
func gapOf(res store.ListEventsResult) FeedEvent {
	gap := FeedEvent{Cursor: res.Next.String(), Event: FeedGap, Reason: "events are missing here: no events are stored"}
	if res.Keep > 0 {
		gap.Reason = fmt.Sprintf("events are missing here: they are kept for %v, or none were stored for a while", res.Keep)
	}
	if len(res.Events) > 0 {
		first := res.Events[0]
		first.Cursor.Left++ // before the event
		gap.Cursor, gap.At = first.Cursor.String(), first.At
	}
	return gap
}

// jobsOf reads the jobs of events by number.
func (s *EventService) jobsOf(ctx context.Context, events []store.Event) (map[int64]store.JobInfo, error) {
	jobs := map[int64]store.JobInfo{}
	var ids []int64
	for _, e := range events {
		if _, known := jobs[e.Job]; e.Job != 0 && !known {
			jobs[e.Job] = store.JobInfo{}
			ids = append(ids, e.Job)
		}
	}
	if len(ids) == 0 {
		return jobs, nil
	}
	found, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: len(ids)})
	for _, job := range found {
		jobs[job.ID] = job
	}
	return jobs, err
}

// Follow yields the events of the whole cluster after a cursor (empty: from now on), and waits
// for further events until ctx has ended. An event comes within a second of its commit, unless
// an older transaction of the database is still open. A call of the store that fails is
// yielded as an error with a zero event and, unless the caller ends the loop, tried again; a
// cursor that cannot be read ends the loop.
func (s *EventService) Follow(ctx context.Context, since string) iter.Seq2[FeedEvent, error] {
	return func(yield func(FeedEvent, error) bool) {
		if since == "" {
			since = s.end(ctx, yield)
		}
		for since != "" && ctx.Err() == nil {
			page, err := s.follow(ctx, since)
			var bad *check.FieldError
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && (!yield(FeedEvent{}, err) || errors.As(err, &bad)):
				return
			}
			for _, e := range page.Events {
				if !yield(e, nil) {
					return
				}
			}
			if err == nil {
				since = page.Next
			}
			if !page.More {
				rest(ctx, feedPoll-time.Duration(time.Now().UnixNano())%feedPoll) // all followers read at the same time
			}
		}
	}
}

// followed is a read of the feed that followers share.
type followed struct {
	page EventPage
	err  error
}

// follow reads the feed after a cursor. Followers that ask for the same at the same time share a read.
func (s *EventService) follow(ctx context.Context, since string) (EventPage, error) {
	read, ok := s.client.followers.Do(ctx, since, func() followed {
		page, err := s.List(context.WithoutCancel(ctx), EventFilter{Since: since, Limit: mostFeedEvents})
		return followed{page, err}
	})
	if !ok {
		return EventPage{}, ctx.Err()
	}
	return read.page, read.err
}

// end returns the cursor of the newest event; empty: ctx has ended, or the caller has ended
// the loop.
func (s *EventService) end(ctx context.Context, yield func(FeedEvent, error) bool) string {
	for ctx.Err() == nil {
		page, err := s.List(ctx, EventFilter{Limit: 1})
		if err == nil {
			return page.Next
		}
		if ctx.Err() != nil || !yield(FeedEvent{}, err) {
			return ""
		}
		rest(ctx, feedPoll)
	}
	return ""
}

// rest waits until d has passed or ctx has ended.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// leastFeedKeep is the shortest time for which events can be kept.
const leastFeedKeep = time.Minute

// Keep sets for how long the store keeps the events of the whole cluster: at least a minute, or 0
// to store none. It is in force for all transactions that begin after the call.
func (s *EventService) Keep(ctx context.Context, d time.Duration) error {
	d = d.Truncate(time.Microsecond)
	if d != 0 && (d < leastFeedKeep || d > MaxDuration) {
		return fmt.Errorf("keep events: %w", &check.FieldError{
			Field: "keep", Value: d.String(), Problem: "is not a time for which events can be kept",
			Remedy: fmt.Sprintf("use %v to %v, or 0 to store no events", leastFeedKeep, MaxDuration),
		})
	}
	_, err := s.client.backend.Put(ctx, store.PutRequest{Feed: &store.PutFeed{Keep: d}, By: s.client.actor(ctx)})
	return err
}
