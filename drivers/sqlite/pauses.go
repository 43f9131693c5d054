package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// parked is the state of a ready job that no claim finds, because its group or its key is paused.
const parked = -1

// pauseStep is how many jobs of a group or a key one transaction parks, or makes claimable.
const pauseStep = 1000

// PauseSubject pauses a subject; see store.Pauses. Then it parks due jobs in steps, so that
// no claim has to park many.
func (b *Backend) PauseSubject(ctx context.Context, req store.PauseRequest) error {
	const doing = "pause"
	err := b.withinAt(ctx, doing, nil, req.Now, func(s *session, now time.Time) error {
		if err := rowwise.PauseSubject(ctx, s, req, now); err != nil {
			return err
		}
		return s.returnPausedPermits(ctx, req.Subject, req.Name)
	})
	parks := req.Subject == store.SubjectGroup || req.Subject == store.SubjectKey
	for n := pauseStep; parks && err == nil && n >= pauseStep; {
		err = b.withinAt(ctx, doing, nil, req.Now, func(s *session, now time.Time) (err error) {
			n, err = s.count(ctx, parkJobs, args{"now": micros(now), "limit": pauseStep})
			return err
		})
	}
	return err
}

// ResumeSubject ends a pause; see store.Pauses. Then it makes parked jobs claimable in steps.
// If it fails in between, claims go on with that.
func (b *Backend) ResumeSubject(ctx context.Context, req store.ResumeRequest) (out store.ResumeResult, err error) {
	const doing = "resume"
	err = b.withinAt(ctx, doing, nil, req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.ResumeSubject(ctx, s, req, now)
		return err
	})
	for moved := pauseStep; err == nil && out.Resumed && moved >= pauseStep; {
		err = b.withinAt(ctx, doing, nil, req.Now, func(s *session, now time.Time) (err error) {
			moved, err = s.endPauses(ctx, now)
			return err
		})
	}
	return out, err
}

// endPauses makes some parked jobs claimable whose pauses have ended, and returns how many.
func (s *session) endPauses(ctx context.Context, now time.Time) (int, error) {
	moved, err := s.count(ctx, unparkJobs, args{"now": micros(now), "limit": pauseStep})
	if err != nil {
		return 0, err
	}
	if err := s.exec(ctx, insertLimitVacancies, args{"now": micros(now)}); err != nil {
		return 0, err
	}
	return moved, s.exec(ctx, deletePauses, args{"now": micros(now)})
}

// tendPauses prepares a claim in a store with pauses: it makes some parked jobs claimable
// whose pauses have ended, and parks all due jobs of paused groups and keys. It returns how many
// jobs became claimable.
func (s *session) tendPauses(ctx context.Context, now time.Time) (int, error) {
	moved, err := s.endPauses(ctx, now)
	if err != nil {
		return 0, err
	}
	const all = 1 << 40
	return moved, s.exec(ctx, parkJobs, args{"now": micros(now), "limit": all})
}

// withoutPaused returns a claim without the kinds that are paused, and whether its queue is
// paused.
func (s *session) withoutPaused(ctx context.Context, req store.ClaimRequest, now time.Time) (_ store.ClaimRequest, paused bool, err error) {
	var text string
	if err := s.one(ctx, findPauses, args{"queue": req.Queue, "now": micros(now)}, &paused, &text); err != nil {
		return req, false, err
	}
	var kinds []string
	if err := json.Unmarshal([]byte(text), &kinds); err != nil || len(kinds) == 0 {
		return req, paused, err
	}
	req.Kinds = slices.DeleteFunc(slices.Clone(req.Kinds), func(kind string) bool { return slices.Contains(kinds, kind) })
	req.Exact = slices.DeleteFunc(slices.Clone(req.Exact), func(job store.ExactJob) bool { return slices.Contains(kinds, job.Kind) })
	return req, paused, nil
}

// ListPauses reads pauses; see store.Pauses.
func (b *Backend) ListPauses(ctx context.Context, req store.ListPausesRequest) ([]store.Pause, error) {
	var out []store.Pause
	err := b.read(ctx, "list pauses", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		return s.each(ctx, listPauses, args{"now": micros(now)}, func(r row) error {
			p, err := scanPause(r)
			out = append(out, p)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// LockPauses implements rowwise.PausesTx.
func (s *session) LockPauses(ctx context.Context, subject store.PauseSubject, names []string) (map[string]store.Pause, error) {
	pauses := map[string]store.Pause{}
	err := s.each(ctx, lockPauses, args{"subject": int16(subject), "names": jsonList(names)}, func(r row) error {
		p, err := scanPause(r)
		pauses[p.Name] = p
		return err
	})
	return pauses, err
}

// SavePause implements rowwise.PausesTx.
func (s *session) SavePause(ctx context.Context, p store.Pause) error {
	return s.exec(ctx, upsertPauses, args{
		"subject": int16(p.Subject), "name": p.Name, "paused_at": micros(p.At), "until": micros(p.Until), "reason": p.Reason, "actor": p.Actor,
	})
}

// LockGroupSchedules implements rowwise.PausesTx.
func (s *session) LockGroupSchedules(ctx context.Context, group string) (rows []*store.Schedule, err error) {
	err = s.eachSchedule(ctx, lockGroupSchedules, args{"group_name": group}, func(row *store.Schedule) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// pauseColumns are the columns that scanPause scans.
const pauseColumns = "subject name paused_at until reason actor"

func scanPause(r row) (p store.Pause, err error) {
	err = r.Scan(&p.Subject, &p.Name, into(&p.At), into(&p.Until), &p.Reason, &p.Actor)
	return p, err
}
