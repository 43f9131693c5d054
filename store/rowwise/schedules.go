package rowwise

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PutSchedules creates or changes schedules; see store.Schedules. If nothing
// changes it writes nothing, except what is known of an owner.
func PutSchedules(ctx context.Context, tx Tx, req store.PutSchedulesRequest, now time.Time) (store.PutSchedulesResult, error) {
	var out store.PutSchedulesResult
	if kept, err := SyncOwner(ctx, tx, req, now); err != nil || kept != nil {
		return store.PutSchedulesResult{Kept: kept}, err
	}
	if err := checkCalendars(ctx, tx, req.Schedules); err != nil {
		return out, err
	}
	limits, err := SyncLimits(ctx, tx, req, now)
	if err != nil {
		return out, err
	}
	plan, err := planPut(ctx, tx, req, now)
	if err != nil {
		return out, err
	}
	if err := plan.checkChain(ctx, tx, req); err != nil {
		return out, err
	}
	if err := plan.write(ctx, tx, req); err != nil {
		return out, err
	}
	out = plan.result()
	out.LimitsChanged, out.LimitsDeleted = limits.Counts()
	return out, Record(ctx, tx, req.Entry(plan.edits), now)
}

// checkCalendars refuses schedules that name a calendar that does not exist.
func checkCalendars(ctx context.Context, tx Tx, puts []store.PutSchedule) error {
	var names []string
	for _, put := range puts {
		names = append(names, put.Calendars...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	known, err := tx.LockCalendars(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if known[name] == nil {
			return fmt.Errorf("calendar %q: %w", name, store.ErrNotFound)
		}
	}
	return nil
}

// putPlan is what PutSchedules writes.
type putPlan struct {
	rows    []*store.Schedule    // one for each of the request, as it will be
	changed []*store.Schedule    // rows that are new or change
	gone    []*store.Schedule    // rows that a sync deletes
	back    []int64              // the numbers of changed rows that were deleted
	edits   []store.ScheduleEdit // what changes; the audit has it
}

func (p *putPlan) result() store.PutSchedulesResult {
	out := store.PutSchedulesResult{Changed: len(p.changed), Deleted: len(p.gone)}
	for _, row := range slices.Concat(p.changed, p.gone) {
		out.Edited = append(out.Edited, row.Name)
	}
	for _, row := range p.rows {
		out.Revisions = append(out.Revisions, row.Revision)
	}
	return out
}

// planPut decides about every schedule of a request, and refuses the request if
// one schedule cannot be put.
func planPut(ctx context.Context, tx Tx, req store.PutSchedulesRequest, now time.Time) (plan putPlan, err error) {
	if _, err := tx.LockRevision(ctx); err != nil { // one transaction at a time puts schedules
		return plan, err
	}
	known := map[string]*store.Schedule{}
	if len(req.Schedules) > 0 {
		names := make([]string, len(req.Schedules))
		for i, put := range req.Schedules {
			names[i] = put.Name
		}
		if known, err = tx.LockSchedules(ctx, names); err != nil {
			return plan, err
		}
	}
	var pauses map[string]store.Pause
	if groups := GroupsOf(req.Schedules); len(groups) > 0 {
		if pauses, err = tx.LockPauses(ctx, store.SubjectGroup, groups); err != nil {
			return plan, err
		}
	}
	for _, put := range req.Schedules {
		if err := known[put.Name].CheckPut(put, req.Owner, now); err != nil {
			return plan, fmt.Errorf("schedule %q: %w", put.Name, err)
		}
		known[put.Name] = plan.put(known[put.Name], put, pauses[put.Group], req.Owner, now)
	}
	if !req.Sync {
		return plan, nil
	}
	owned, err := tx.LockOwnedSchedules(ctx, req.Owner)
	if err != nil {
		return plan, err
	}
	asked := map[string]bool{}
	for _, put := range req.Schedules {
		asked[put.Name] = true
	}
	for _, row := range owned {
		switch {
		case asked[row.Name]:
			continue
		case row.Unsettled(now):
			return plan, fmt.Errorf("delete schedule %q: %w", row.Name, store.ErrUnsettled)
		}
		row.Bury(now)
		plan.gone = append(plan.gone, row)
		plan.edits = append(plan.edits, store.ScheduleEdit{Name: row.Name})
	}
	return plan, nil
}

// checkChain refuses a put while ends are not passed on that the old definitions concern,
// and schedules that would follow each other in a circle.
func (p *putPlan) checkChain(ctx context.Context, tx Tx, req store.PutSchedulesRequest) error {
	edited := p.result().Edited
	if len(edited) == 0 {
		return nil
	}
	if err := CheckNotes(ctx, tx.HasNotes, append(edited, req.Predecessors()...)); err != nil {
		return err
	}
	return CheckCycle(ctx, tx.FindPredecessors, req.Schedules)
}

// CheckNotes returns store.ErrUnsettled if an end that concerns the schedules is not passed
// on. has is Schedules.HasNotes.
func CheckNotes(ctx context.Context, has func(context.Context, []string) (bool, error), schedules []string) error {
	found, err := has(ctx, schedules)
	if err == nil && found {
		err = fmt.Errorf("an end of a job is not passed on: %w", store.ErrUnsettled)
	}
	return err
}

// put adds one schedule, whose group has a pause, to the plan and returns its row as it will be.
func (p *putPlan) put(row *store.Schedule, put store.PutSchedule, pause store.Pause, owner string, now time.Time) *store.Schedule {
	if !row.Same(put, owner) {
		edit := row.Edit(put)
		if row == nil {
			row = &store.Schedule{}
		}
		if !row.DeletedAt.IsZero() {
			p.back = append(p.back, row.ID)
		}
		row.Put(put, owner, now)
		row.FollowPause(pause, now)
		edit.To = row.Revision
		p.changed, p.edits = append(p.changed, row), append(p.edits, edit)
	}
	p.rows = append(p.rows, row)
	return row
}

// write writes the plan.
func (p *putPlan) write(ctx context.Context, tx Tx, req store.PutSchedulesRequest) error {
	if rows := slices.Concat(p.changed, p.gone); len(rows) > 0 {
		if err := tx.SaveSchedules(ctx, rows); err != nil {
			return err
		}
	}
	if len(p.changed) > 0 {
		if err := p.writeUses(ctx, tx, req.Schedules); err != nil {
			return err
		}
	}
	if well := append(p.back, numbersOf(p.gone)...); len(well) > 0 {
		return tx.EndFailing(ctx, well)
	}
	return nil
}

// writeUses writes which calendars the changed schedules name, and which schedules they
// follow.
func (p *putPlan) writeUses(ctx context.Context, tx Tx, puts []store.PutSchedule) error {
	names, changed := make([]string, len(p.changed)), map[string]bool{}
	for i, row := range p.changed {
		names[i], changed[row.Name] = row.Name, true
	}
	if err := tx.DeleteCalendarUses(ctx, names); err != nil {
		return err
	}
	var uses []CalendarUse
	for _, put := range puts {
		for _, calendar := range put.Calendars {
			if changed[put.Name] {
				uses = append(uses, CalendarUse{calendar, put.Name})
			}
		}
	}
	if len(uses) > 0 {
		if err := tx.InsertCalendarUses(ctx, uses); err != nil {
			return err
		}
	}
	edges := ChainEdges(puts, func(name string) bool { return changed[name] })
	if err := tx.SaveChain(ctx, names, edges); err != nil {
		return err
	}
	concerned := slices.Clone(names)
	for _, e := range edges {
		concerned = append(concerned, e.Predecessor)
	}
	return tx.MarkPredecessors(ctx, concerned)
}

func numbersOf(rows []*store.Schedule) []int64 {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func ChangeSchedules(ctx context.Context, tx Tx, req store.ChangeSchedulesRequest, now time.Time) error {
	if len(req.Names) == 0 {
		return nil
	}
	known, err := tx.LockSchedules(ctx, req.Names)
	if err != nil {
		return err
	}
	rows, err := req.Plan(known, now)
	if err != nil || len(rows) == 0 {
		return err
	}
	if err := CheckNotes(ctx, tx.HasNotes, req.Names); err != nil {
		return err
	}
	if err := tx.SaveSchedules(ctx, rows); err != nil {
		return err
	}
	switch req.Action {
	case store.DeleteSchedules:
		err = tx.EndFailing(ctx, numbersOf(rows))
	case store.ResumeSchedules:
		err = tx.ResetFailures(ctx, numbersOf(rows))
	}
	if err != nil {
		return err
	}
	return Record(ctx, tx, req.Entry(store.ScheduleNames(rows)), now)
}
