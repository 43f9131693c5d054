package hourbell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// BackfillRequest is a past range of a schedule to run again.
type BackfillRequest struct {
	// The range of the slots: from From up to, but not including, To, which is
	// not in the future.
	From, To time.Time
	// Overlap selects how the jobs run relative to each other and to jobs of
	// earlier backfills. OverlapQueue, and OverlapSkip, which is the default,
	// run them one after the other, oldest first; OverlapAllow runs all at
	// once. They never wait for the schedule's own jobs, nor the schedule's own
	// jobs for them.
	Overlap Overlap
	// Force also runs slots that have fired, and ranges whose slot records may
	// have been deleted.
	Force bool
	// Dependents lets the ends of the jobs start the schedules that follow this
	// schedule. Without it they set off nothing.
	Dependents bool
	// DryRun returns the slots and makes no jobs.
	DryRun bool
}

// BackfillResult is the result of ScheduleService.Backfill.
type BackfillResult struct {
	Slots []time.Time // oldest first
	Jobs  []int64     // one for each slot; none after a DryRun
}

// Backfill makes a job for each slot of a past range that the schedule's rule,
// as it is now, has, and that its calendars, as they are now, do not exclude;
// pauses and policies do not matter. The jobs have the origin "backfill" and
// their slots. They do not account for slots, and do not count for
// Schedule.Count. Without Force the request is refused, and makes no jobs, if a
// slot of the range is recorded as fired, or if the range begins before the
// oldest slot records that are kept, by this client's Config.Keep or by the
// store, because it is not known which slots have fired there.
func (s *ScheduleService) Backfill(ctx context.Context, name string, req BackfillRequest) (BackfillResult, error) {
	out, err := s.backfill(ctx, name, req)
	if err != nil {
		return BackfillResult{}, fmt.Errorf("backfill schedule %q: %w", check.Shorten(name), err)
	}
	return out, nil
}

func (s *ScheduleService) backfill(ctx context.Context, name string, req BackfillRequest) (BackfillResult, error) {
	if err := s.client.checkTx(nil); err != nil && !req.DryRun {
		return BackfillResult{}, err
	}
	info, slots, err := s.slotsToBackfill(ctx, name, req)
	if err != nil || len(slots) == 0 {
		return BackfillResult{}, err
	}
	if req.DryRun {
		return BackfillResult{Slots: slots}, nil
	}
	insertion := insertRequest(nil, req.jobs(info, slots))
	insertion.By, insertion.Of = s.client.actor(ctx), info.Name
	inserted, err := s.client.insert(ctx, insertion)
	return BackfillResult{Slots: slots, Jobs: inserted.IDs()}, err
}

// slotsToBackfill returns the schedule and the slots of a backfill, or why it is refused.
func (s *ScheduleService) slotsToBackfill(ctx context.Context, name string, req BackfillRequest) (info ScheduleInfo, slots []time.Time, err error) {
	info, err = s.Get(ctx, name)
	if err != nil {
		return info, nil, err
	}
	if err := info.mayBackfill(); err != nil {
		return info, nil, err
	}
	now, err := s.client.Now(ctx)
	if err != nil {
		return info, nil, err
	}
	if err := req.validate(now); err != nil {
		return info, nil, err
	}
	slots, err = info.slotsBetween(req.From, req.To)
	if err == nil && len(slots) > 0 && !req.Force {
		err = s.checkUnfired(ctx, info, req, now)
	}
	return info, slots, err
}

// mayBackfill returns why a schedule has no slots of its own that can be backfilled, or nil.
func (s ScheduleInfo) mayBackfill() error {
	switch {
	case s.Problem != "":
		return errors.New(s.Problem)
	case s.On.Every:
		return s.onEveryHost("backfill the schedule of each host, " + store.HostSchedule(s.Name, "HOST"))
	case s.Follows():
		return s.noTimetable("backfill a schedule that it follows, or trigger it")
	}
	return nil
}

// jobs returns the jobs of a backfill.
func (r BackfillRequest) jobs(info ScheduleInfo, slots []time.Time) []store.NewJob {
	origin := store.OriginBackfill
	if r.Dependents {
		origin = store.OriginBackfillDependents
	}
	definition := info.stored
	definition.PauseAfter = 0 // a backfill does not pause the schedule
	jobs := make([]store.NewJob, len(slots))
	for i, slot := range slots {
		jobs[i] = definition.Job(info.ID, origin)
		jobs[i].Slot, jobs[i].Waiting = slot, r.Overlap != OverlapAllow
	}
	return jobs
}

// validate returns what is wrong with a request; now is the time of the store's
// clock.
func (r BackfillRequest) validate(now time.Time) error {
	errs := []error{checkTime("from", r.From), checkOverlap("overlap", orSkip(r.Overlap))}
	if r.Overlap == OverlapReplace {
		errs = append(errs, &check.FieldError{
			Field: "overlap", Value: string(r.Overlap),
			Problem: "would cancel all of the range but its last slot", Remedy: "use queue or allow",
		})
	}
	switch {
	case !r.From.Before(r.To):
		errs = append(errs, &check.FieldError{Field: "to", Value: r.To.Format(time.RFC3339), Problem: "is not after from", Remedy: "give a later instant"})
	case r.To.After(now):
		errs = append(errs, &check.FieldError{
			Field: "to", Value: r.To.Format(time.RFC3339), Problem: "is in the future",
			Remedy: fmt.Sprintf("give at most %s, the store's clock", now.Format(time.RFC3339)),
		})
	}
	return check.Join(errs...)
}

// slotsBetween lists the slots from an instant up to, but not including,
// another instant that no calendar excludes.
func (s ScheduleInfo) slotsBetween(from, to time.Time) ([]time.Time, error) {
	rule, err := s.Rule.Rule(s.Anchor)
	if err != nil {
		return nil, err
	}
	calendars := make([]*recur.Calendar, len(s.Exclude))
	for i, c := range s.Exclude {
		if calendars[i], err = c.Calendar(); err != nil {
			return nil, err
		}
	}
	var slots []time.Time
	for after := from.Add(-time.Microsecond); ; {
		slot, open := recur.NextOpen(rule, after, calendars...)
		if slot.IsZero() || !slot.Before(to) {
			return slots, nil
		}
		if after = slot; !open {
			continue
		}
		if len(slots) == MaxBackfill {
			return nil, &check.FieldError{
				Field: "to", Value: to.Format(time.RFC3339),
				Problem: fmt.Sprintf("makes more than %d slots", MaxBackfill), Remedy: "take the range in parts",
			}
		}
		slots = append(slots, slot)
	}
}

// checkUnfired refuses a range in which slots have fired, or may have fired.
func (s *ScheduleService) checkUnfired(ctx context.Context, info ScheduleInfo, req BackfillRequest, now time.Time) error {
	if oldest := now.Add(-s.client.cfg.Keep.Slots); s.client.cfg.Keep.Slots > 0 && req.From.Before(oldest) && info.CreatedAt.Before(oldest) {
		return &check.FieldError{
			Field: "from", Value: req.From.Format(time.RFC3339),
			Problem: fmt.Sprintf("is before %s; earlier records of slots are not kept, so it is not known which slots have "+
				"fired", oldest.UTC().Format(time.RFC3339)),
			Remedy: "give a later instant, or force it",
		}
	}
	page := SlotFilter{Schedule: info.Name, From: req.From, To: req.To, Limit: 1000}
	for {
		slots, err := s.client.Slots.List(ctx, page)
		if err != nil {
			return err
		}
		for _, slot := range slots {
			if slot.Outcome == store.SlotFired {
				return &check.FieldError{
					Field: "from", Value: req.From.Format(time.RFC3339),
					Problem: fmt.Sprintf("begins a range in which the slot %s fired already (job %d)", slot.Slot.Format(time.RFC3339), slot.Job),
					Remedy:  "give a range without it, or force it",
				}
			}
		}
		if len(slots) < page.Limit {
			return nil
		}
		page.Before = slots[len(slots)-1].Cursor()
	}
}
