package hourbell

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// SlotService reads what became of slots: Client.Slots. Concurrent calls are
// allowed.
type SlotService struct{ client *Client }

// SlotFilter selects records of slots. The zero value selects all.
type SlotFilter struct {
	Schedule string       // by name; of a schedule on every host the records of all hosts
	Group    string       // the group that their schedules have now
	From     time.Time    // inclusive
	To       time.Time    // exclusive
	Before   store.Cursor // the cursor of the last record of the previous page
	Limit    int          // rows of a page; default 100
}

// List returns the outcomes of slots, newest first, a page at a time.
func (s *SlotService) List(ctx context.Context, f SlotFilter) ([]store.SlotInfo, error) {
	if err := check.Join(checkIfGiven("schedule", f.Schedule), checkIfGiven("group", f.Group), checkTime("from", f.From), checkTime("to", f.To)); err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	schedule, hostsOf, err := s.client.ofHosts(ctx, f.Schedule)
	if err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	req := store.ListRequest{Names: []string{schedule}, HostsOf: hostsOf, Group: f.Group, From: f.From, To: f.To, Before: f.Before, Limit: pageSize(f.Limit)}
	return store.List[store.SlotInfo](ctx, s.client.backend, req)
}

// ListOverdue returns active schedules whose slots have passed without a node that fired them (ScheduleInfo.Overdue): up to limit
// of the schedules that have been due for longest, by the instant since which they are due. A limit of 0 means 100.
func (s *ScheduleService) ListOverdue(ctx context.Context, limit int) ([]ScheduleInfo, error) {
	infos, err := s.overdue(ctx, pageSize(limit))
	if err != nil {
		return nil, fmt.Errorf("list overdue schedules: %w", err)
	}
	return infos, nil
}

func (s *ScheduleService) overdue(ctx context.Context, limit int) ([]ScheduleInfo, error) {
	due, err := s.client.backend.DueSchedules(ctx, store.DueSchedulesRequest{Limit: limit})
	if err != nil || len(due.Schedules) == 0 {
		return nil, err
	}
	infos, now, err := s.infos(ctx, due.Schedules)
	if err != nil {
		return nil, err
	}
	infos = slices.DeleteFunc(infos, func(info ScheduleInfo) bool { return info.State() != "active" || info.Overdue.Since.IsZero() })
	if len(infos) == 0 {
		return nil, nil
	}
	nodes, err := s.client.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n store.NodeInfo) bool { return !n.Alive(now) })
	for i, info := range infos {
		if info.Waits == "" || len(nodes) == 0 {
			infos[i].Waits = waits(plan.Place(info.On).Queue(info.Queue), info.Job.Kind(), nodes)
		}
	}
	return infos, nil
}

// mostCounted is the number of schedules whose events are counted.
const mostCounted = 10_000

// Counts returns, as EventService.Counts does, how often each kind of event of
// one schedule has happened in this process. For event.SlotFired, SlotMissed
// and SlotSkipped it counts slots, and for the events of jobs it counts events.
// It counts for the first 10,000 schedules that have events; for other
// schedules it returns nothing.
func (s *ScheduleService) Counts(name string) map[event.Kind]int64 {
	return s.client.relay.schedules.of(name)
}

// scheduleCounts counts events by schedule. Concurrent calls are allowed; the
// zero value is empty.
type scheduleCounts struct {
	mu     sync.Mutex
	counts map[string]map[event.Kind]int64
}

// add counts an event, if it is about a schedule.
func (s *scheduleCounts) add(e event.Event) {
	if e.Schedule == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.counts[e.Schedule]
	switch {
	case counts != nil:
	case len(s.counts) >= mostCounted:
		return
	default:
		if s.counts == nil {
			s.counts = map[string]map[event.Kind]int64{}
		}
		counts = map[event.Kind]int64{}
		s.counts[e.Schedule] = counts
	}
	n := int64(1)
	if e.Kind == event.SlotMissed || e.Kind == event.SlotSkipped {
		n = e.Count
	}
	counts[e.Kind] += n
}

// of returns the counts of a schedule, which the caller may keep.
func (s *scheduleCounts) of(name string) map[event.Kind]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts[name])
}

// FailingAfter is how many jobs in a row have to fail for a schedule to be failing.
const FailingAfter = 3

// HealthSlots is how many records of slots ScheduleHealth has at most.
const HealthSlots = 20

// ScheduleHealth is what became of the newest slots of a schedule, as far as they and their jobs are kept.
type ScheduleHealth struct {
	Slots []store.SlotInfo // newest first
	// LastSuccess is the newest of the slots whose job completed; zero: none of them.
	LastSuccess time.Time
	// Failures is how many of the newest jobs failed in a row. Jobs that have not ended or are not kept, jobs that were cancelled,
	// and slots without a job neither count nor end the row.
	Failures int
	// FailedFirst is the slot of the first of these failures, and FailedLast the job of the last; zero: there is none.
	FailedFirst time.Time
	FailedLast  int64
}

// Failing reports whether the newest jobs failed: FailingAfter in a row, or more.
func (h ScheduleHealth) Failing() bool { return h.Failures >= FailingAfter }

// Health returns the health of schedules, in their order. A schedule on every host has no slots of its own: the schedules of its
// hosts have them (OnHosts).
func (s *ScheduleService) Health(ctx context.Context, schedules ...ScheduleInfo) ([]ScheduleHealth, error) {
	found := make([]ScheduleHealth, len(schedules))
	if len(schedules) == 0 {
		return found, nil
	}
	ids := converted(schedules, func(info ScheduleInfo) int64 { return info.ID })
	slots, err := store.List[store.SlotInfo](ctx, s.client.backend, store.ListRequest{IDs: ids, Limit: HealthSlots})
	if err != nil {
		return nil, fmt.Errorf("read the health of schedules: %w", err)
	}
	of := map[int64][]store.SlotInfo{}
	for _, slot := range slots {
		of[slot.Schedule] = append(of[slot.Schedule], slot)
	}
	for i, id := range ids {
		found[i] = healthOf(of[id])
	}
	return found, nil
}

// healthOf returns the health that follows from the newest slots, newest first.
func healthOf(slots []store.SlotInfo) ScheduleHealth {
	h, failing := ScheduleHealth{Slots: slots}, true
	for _, slot := range slots {
		switch {
		case !slot.JobKept:
		case slot.JobState == store.StateCompleted:
			if failing = false; h.LastSuccess.IsZero() {
				h.LastSuccess = slot.Slot
			}
		case slot.JobState == store.StateFailed && failing:
			if h.Failures++; h.FailedLast == 0 {
				h.FailedLast = slot.Job
			}
			h.FailedFirst = slot.Slot
		}
	}
	return h
}

// ListFailing returns active schedules that are failing, by name, with their health: at most limit of those with a job
// among the newest jobs of the store that did not complete (store.FailedAmong). A limit of 0 means 100.
func (s *ScheduleService) ListFailing(ctx context.Context, limit int) (failing []ScheduleInfo, health []ScheduleHealth, err error) {
	infos, err := s.list(ctx, store.ListRequest{Failed: true, Limit: pageSize(limit)})
	if err != nil {
		return nil, nil, fmt.Errorf("list failing schedules: %w", err)
	}
	all, err := s.Health(ctx, infos...)
	if err != nil {
		return nil, nil, err
	}
	for i, info := range infos {
		if info.State() == "active" && all[i].Failing() {
			failing, health = append(failing, info), append(health, all[i])
		}
	}
	return failing, health, nil
}
