package sqlrows

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/hourbell/hourbell/store"
)

// list reads the rows that a listing asks for.
func list(ctx context.Context, tx Tx, req store.ListRequest) (out store.Listing, err error) {
	s := tx.Base()
	switch req.Of {
	case store.OfAudit:
		out.Audit, err = s.listAudit(ctx, req)
	case store.OfBatches:
		out.Batches, err = s.listBatches(ctx, req)
	case store.OfCalendars:
		out.Calendars, err = s.listCalendars(ctx, req)
	case store.OfEnds:
		out.Ends, err = s.listEnds(ctx, req)
	case store.OfGroups:
		out.Groups, err = s.listGroups(ctx, req)
	case store.OfHandlers:
		out.Handlers, err = tx.ReadHandlers(ctx)
	case store.OfKinds:
		out.Kinds, err = s.listKinds(ctx, req.Now)
	case store.OfLimits:
		out.Limits, err = s.listLimits(ctx, req)
	case store.OfLimitWaits:
		out.LimitWaits, err = s.listLimitWaits(ctx, req)
	case store.OfLinks:
		out.Links, err = s.listLinks(ctx, req)
	case store.OfNodes:
		out.Nodes, err = s.ReadNodes(ctx, ListNodes, nil)
	case store.OfOwners:
		out.Owners, err = s.ReadOwners(ctx, req)
	case store.OfPauses:
		out.Pauses, err = s.ActivePauses(ctx, req.Now)
	case store.OfPosition:
		out.Position, err = s.listPosition(ctx)
	case store.OfQueues:
		out.Queues, err = s.countLive(ctx, ListQueues, req.Now)
	case store.OfSchedules:
		out.Schedules, err = s.listSchedules(ctx, req)
	case store.OfSlots:
		out.Slots, err = s.listSlots(ctx, req)
	case store.OfStats:
		out.Stats, err = s.listStats(ctx, req)
	case store.OfSteps:
		out.Steps, err = s.listSteps(ctx, req)
	}
	return out, err
}

func (s *Session) listBatches(ctx context.Context, req store.ListRequest) (out []store.Batch, err error) {
	a := Args{"before": cmp.Or(req.Before.ID, math.MaxInt64), "limit": req.Limit}
	var given []string
	if len(req.IDs) > 0 {
		given, a["ids"] = []string{"ids"}, req.IDs
	}
	err = s.List(ctx, listBatches, given, a, func(r Row) error {
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

func (s *Session) listLinks(ctx context.Context, req store.ListRequest) ([]store.Link, error) {
	return collect(ctx, s, ListLinks, nil, Args{"ids": req.IDs, "limit": req.Limit}, func(r Row) (l store.Link, err error) {
		err = r.Scan(&l.Dependent, &l.Job, IntoDuration(&l.Delay), &l.On, &l.State)
		return l, err
	})
}

func (s *Session) listCalendars(ctx context.Context, req store.ListRequest) ([]store.Calendar, error) {
	var given []string
	a := Args{"after": req.After, "limit": req.Limit}
	if len(req.Names) > 0 {
		given, a["names"] = append(given, "names"), req.Names
	}
	return collect(ctx, s, listCalendars, given, a, ScanCalendar)
}

func (s *Session) listEnds(ctx context.Context, req store.ListRequest) ([]store.ScheduleEnd, error) {
	return collect(ctx, s, FindDueEnds, nil, Args{"ids": req.IDs, "limit": req.Limit}, func(r Row) (e store.ScheduleEnd, err error) {
		err = r.Scan(&e.Schedule, IntoTime(&e.Slot), &e.After, &e.ID, &e.State, IntoTime(&e.At), &e.Reason, &e.Paused)
		return e, err
	})
}

// groupColumns are the columns that listGroups scans.
const groupColumns = "name schedules ready scheduled running waiting"

// listGroups counts what is in groups.
func (s *Session) listGroups(ctx context.Context, req store.ListRequest) ([]store.GroupInfo, error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return nil, err
	}
	var given []string
	a := Args{"now": Micros(now)}
	if name := req.Name(); name != "" {
		given, a["name"] = append(given, "name"), name
	}
	return collect(ctx, s, listGroups, given, a, func(r Row) (g store.GroupInfo, err error) {
		err = r.Scan(&g.Name, &g.Schedules, &g.Ready, &g.Scheduled, &g.Running, &g.Waiting)
		return g, err
	})
}

// ActivePauses implements rowwise.Slots.
func (s *Session) ActivePauses(ctx context.Context, asked time.Time) ([]store.Pause, error) {
	now, err := s.Now(ctx, asked)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s, listPauses, nil, Args{"now": Micros(now)}, ScanPause)
}

func (s *Session) listSchedules(ctx context.Context, req store.ListRequest) ([]store.Schedule, error) {
	given, a := scheduleConditions(req)
	return collect(ctx, s, ListSchedules, given, a, func(r Row) (store.Schedule, error) {
		var since time.Time
		schedule, err := scanSchedule(r, IntoTime(&since))
		schedule.FailingSince = since
		return schedule, err
	})
}

func (s *Session) listSlots(ctx context.Context, req store.ListRequest) ([]store.SlotInfo, error) {
	if len(req.IDs) == 0 {
		given, a := slotConditions(req)
		return collect(ctx, s, ListSlots, given, a, scanSlot)
	}
	var out []store.SlotInfo
	for _, id := range req.IDs { // a statement for each: not every engine can join with the newest rows of each
		slots, err := collect(ctx, s, ListSlots, []string{"number"}, Args{"number": id, "limit": req.Limit}, scanSlot)
		if err != nil {
			return nil, err
		}
		out = append(out, slots...)
	}
	return out, nil
}

func scanSlot(r Row) (x store.SlotInfo, err error) {
	var owner string
	var state int64
	err = r.Scan(
		&x.ID, &x.Schedule, &x.ScheduleName, &owner, IntoTime(&x.Slot), IntoTime(&x.Last), &x.Count, &x.Outcome, &x.Reason,
		&x.Job, &state, IntoTime(&x.RecordedAt), &x.After, &x.AfterSchedule,
	)
	x.Host = store.HostOf(x.ScheduleName, owner)
	if x.JobKept = state >= 0; x.JobKept {
		x.JobState = store.State(state)
	}
	return x, err
}

func (s *Session) listKinds(ctx context.Context, asked time.Time) (out []store.KindInfo, err error) {
	counts, err := s.countLive(ctx, ListKinds, asked)
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
		name, a["now"] = listPausedClaims, Micros(now)
	}
	return collect(ctx, s, name, nil, a, func(r Row) (ref store.ClaimRef, err error) {
		err = r.Scan(&ref.ID, &ref.Token)
		return ref, err
	})
}
