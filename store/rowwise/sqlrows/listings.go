package sqlrows

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/hourbell/hourbell/store"
)

// ListBatches returns batches; see store.Batches.
func (s *Session) ListBatches(ctx context.Context, req store.ListBatchesRequest) (out []store.Batch, err error) {
	a := Args{"before": cmp.Or(req.Before, math.MaxInt64), "limit": req.Limit}
	var given []string
	if len(req.IDs) > 0 {
		given, a["ids"] = []string{"ids"}, req.IDs
	}
	err = s.List(ctx, ListBatches, given, a, func(r Row) error {
		var one store.Batch
		var state sql.NullInt64
		var jobs int64
		if err := r.Scan(&one.ID, IntoTime(&one.CreatedAt), &one.Finally, &one.FinallyState, &state, &jobs); err != nil {
			return err
		}
		if n := len(out); n == 0 || out[n-1].ID != one.ID {
			out = append(out, one)
		}
		if state.Valid {
			out[len(out)-1].Counts[state.Int64] = jobs
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ListLinks returns edges; see store.Batches.
func (s *Session) ListLinks(ctx context.Context, req store.ListLinksRequest) ([]store.Link, error) {
	return collect(ctx, s, ListLinks, nil, Args{"ids": req.IDs, "limit": req.Limit}, func(r Row) (l store.Link, err error) {
		err = r.Scan(&l.Dependent, &l.Job, IntoDuration(&l.Delay), &l.On, &l.State)
		return l, err
	})
}

// ListCalendars reads calendars in pages; see store.Calendars.
func (s *Session) ListCalendars(ctx context.Context, req store.ListCalendarsRequest) ([]store.Calendar, error) {
	var given []string
	a := Args{"after": req.After, "limit": req.Limit}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), req.Names
	}
	return collect(ctx, s, ListCalendars, given, a, ScanCalendar)
}

// DueEnds reads ends of predecessors; see store.Schedules.
func (s *Session) DueEnds(ctx context.Context, req store.DueEndsRequest) ([]store.ScheduleEnd, error) {
	return collect(ctx, s, FindDueEnds, nil, Args{"ids": req.Schedules, "limit": req.Limit}, func(r Row) (e store.ScheduleEnd, err error) {
		err = r.Scan(&e.Schedule, IntoTime(&e.Slot), &e.After, &e.ID, &e.State, IntoTime(&e.At), &e.Reason, &e.Paused)
		return e, err
	})
}

// groupColumns are the columns that ListGroups scans.
const groupColumns = "name schedules ready scheduled running waiting"

// ListGroups counts what is in groups; see store.Groups.
func (s *Session) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return nil, err
	}
	var given []string
	a := Args{"now": Micros(now)}
	if req.Name != "" {
		given, a["name"] = append(given, "name"), req.Name
	}
	return collect(ctx, s, ListGroups, given, a, func(r Row) (g store.GroupInfo, err error) {
		err = r.Scan(&g.Name, &g.Schedules, &g.Ready, &g.Scheduled, &g.Running, &g.Waiting)
		return g, err
	})
}

// ListPauses reads pauses; see store.Pauses.
func (s *Session) ListPauses(ctx context.Context, req store.ListPausesRequest) ([]store.Pause, error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s, ListPauses, nil, Args{"now": Micros(now)}, ScanPause)
}

// FiredTo returns up to when schedules have fired early; see store.EarlyFirer.
func (s *Session) FiredTo(ctx context.Context, req store.FiredToRequest) (time.Time, error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return time.Time{}, err
	}
	marks, err := collect(ctx, s, FindMarks, nil, Args{"names": req.Names}, func(r Row) (mark time.Time, err error) {
		err = r.Scan(IntoTime(&mark))
		return mark, err
	})
	if err != nil {
		return time.Time{}, err
	}
	return store.LatestFiredTo(marks, now), nil
}

// ListSchedules reads schedules in pages; see store.Schedules.
func (s *Session) ListSchedules(ctx context.Context, req store.ListSchedulesRequest) ([]store.Schedule, error) {
	given, a := scheduleConditions(req)
	return collect(ctx, s, ListSchedules, given, a, func(r Row) (store.Schedule, error) {
		var since time.Time
		schedule, err := scanSchedule(r, IntoTime(&since))
		schedule.FailingSince = since
		return schedule, err
	})
}

// ListSlots reads records in pages; see store.Schedules.
func (s *Session) ListSlots(ctx context.Context, req store.ListSlotsRequest) ([]store.SlotInfo, error) {
	given, a := slotConditions(req)
	return collect(ctx, s, ListSlots, given, a, func(r Row) (x store.SlotInfo, err error) {
		var owner string
		err = r.Scan(&x.ID, &x.Schedule, &x.ScheduleName, &owner, IntoTime(&x.Slot), IntoTime(&x.Last), &x.Count, &x.Outcome, &x.Reason, &x.Job, IntoTime(&x.RecordedAt), &x.After, &x.AfterSchedule)
		x.Host = store.HostOf(x.ScheduleName, owner)
		return x, err
	})
}

// ListQueues counts live jobs by their queues; see store.Nodes.
func (s *Session) ListQueues(ctx context.Context, req store.ListQueuesRequest) ([]store.QueueInfo, error) {
	return s.countLive(ctx, ListQueues, req.Now)
}

// ListKinds counts live jobs by their kinds; see store.Nodes.
func (s *Session) ListKinds(ctx context.Context, req store.ListKindsRequest) (out []store.KindInfo, err error) {
	counts, err := s.countLive(ctx, ListKinds, req.Now)
	for _, c := range counts {
		out = append(out, store.KindInfo(c))
	}
	return out, err
}

// countLive counts live jobs by a name.
func (s *Session) countLive(ctx context.Context, list Statement, asked time.Time) ([]store.QueueInfo, error) {
	now, err := s.Now(ctx, asked)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s, list, nil, Args{"now": Micros(now)}, func(r Row) (q store.QueueInfo, err error) {
		err = r.Scan(&q.Name, &q.Ready, &q.Scheduled, &q.Running, &q.Waiting, IntoTime(&q.Oldest))
		return q, err
	})
}

// ListNodes lists nodes; see store.Nodes.
func (s *Session) ListNodes(ctx context.Context) ([]store.NodeInfo, error) {
	return s.ReadNodes(ctx, ListNodes, nil)
}

// ListClaims lists what a node holds; see store.Nodes.
func (s *Session) ListClaims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	name, a := ListClaims, Args{"node": req.Node}
	switch {
	case req.Cancelled:
		name = ListCancelledClaims
	case req.Paused:
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return nil, err
		}
		name, a["now"] = ListPausedClaims, Micros(now)
	}
	return collect(ctx, s, name, nil, a, func(r Row) (ref store.ClaimRef, err error) {
		err = r.Scan(&ref.ID, &ref.Token)
		return ref, err
	})
}
